"""What stands in for Knative refuses what Knative's webhook refuses."""

from __future__ import annotations

import pytest
from tests.contracts.knative_refusals import REFUSED, Case, refused
from tests.kubernetes.rest import Rest
from tests.servers import Server


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_knative_refuses_is_refused(rest: Rest, common_namespace: str, case: Case) -> None:
    refused(rest, common_namespace, case)


@pytest.fixture(autouse=True)
def _stand_in(request: pytest.FixtureRequest, server: Server) -> None:
    if request.config.getoption("--real-kubernetes"):
        pytest.skip("a real Kubernetes has no Knative here")
