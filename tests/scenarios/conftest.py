"""What scenarios begin with: a home of their own, or a cluster that is up."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from tests.scenarios.pdc_home import PdcHome, fresh_home


@pytest.fixture
def home() -> Iterator[PdcHome]:
    """A folder where no cluster ever ran."""
    with fresh_home() as made:
        yield made


@pytest.fixture(scope="session")
def cluster() -> Iterator[PdcHome]:
    """A running cluster, shared: use names of your own."""
    with fresh_home() as made:
        made.ok("up", "--detach")
        yield made


@pytest.fixture
def name() -> str:
    return f"t-{secrets.token_hex(4)}"
