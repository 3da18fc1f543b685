"""Worlds of every controller as hypothesis makes them: an object, what is around it, what was said of it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.decisions.builders import NAMESPACE, NOW, a_claim, metadata
from tests.decisions.drawing import Draw
from tests.decisions.drawnkinds import (
    data_sets,
    jobs,
    kubeflow_jobs,
    models,
    recurring_runs,
    runs,
    sample_jobs,
    services,
    versions,
)
from tests.decisions.drawnknative import knative_services, revisions, routes
from tests.decisions.drawnworkloads import (
    batch_jobs,
    core_services,
    cron_jobs,
    deployments,
    endpoint_worlds,
    groups,
    kept_pods,
    replica_sets,
)
from tests.decisions.world import World

from paddlecloud.api.core import Secret
from paddlecloud.controllers.contract import Controller, Recorded, identity

LOGS = st.sampled_from(
    [
        None,
        "",
        "Traceback\nValueError",
        "epoch 1/2 step 3/4 loss 0.5",
        "step 4/4 loss 1e999\ntest accuracy 0.9",
    ]
)
RECORDS = st.sampled_from(
    [None, (), (Recorded("train/loss", 7, 0.5), Recorded("eval/acc", 1, None)), (Recorded("", -3, 1e30),)]
)
RUNTIME_PHASES = st.sampled_from(["Syncing", "Synced", "Failed", "?"])
SAID = st.one_of(
    st.none(),
    st.just(["no", "runtime"]),
    st.builds(
        lambda phase, total, done: {
            "phase": phase, "message": "m", "totalBytes": total, "cachedBytes": done, "revision": "r",
            "progress": {"done": done, "total": total, "unit": "bytes", "rate": 1.5},
        },
        RUNTIME_PHASES, st.integers(0, 10**7), st.integers(0, 10**7),
    ),
    st.just({"phase": "Synced", "totalBytes": "many"}),
)  # fmt: skip


AROUND: dict[str, Any] = {
    "paddlejob": jobs(),
    "kubeflowjob": kubeflow_jobs(),
    "sampleset": data_sets(),
    "samplejob": sample_jobs(),
    "model": models(),
    "modelversion": versions(),
    "paddleservice": services(),
    "elasticpaddleservice": services(),
    "workflowrun": runs(),
    "recurringrun": recurring_runs(),
    "statefulset": groups(),
    "deployment": deployments(),
    "replicaset": replica_sets(),
    "job": batch_jobs(),
    "cronjob": cron_jobs(),
    "endpoints": core_services(),
    "abandoned-endpoints": endpoint_worlds(),
    "pod-keeping": kept_pods(),
    "knative-service": knative_services(),
    "knative-revision": revisions(),
    "knative-route": routes(),
}
PRECIOUS = (a_claim("precious"), Secret.read({"metadata": metadata("precious"), "data": {"k": "dg=="}}))


@st.composite
def worlds(draw: Draw, controller: Controller) -> World:
    """An object of the controller's kind, what it owns (and some data besides), what it is related to."""
    body, children, related = draw(AROUND[controller.name])
    owner = controller.kind.read({"metadata": metadata("x"), **body})
    everything = (*children, *PRECIOUS)
    assert all(c.namespace == NAMESPACE for c in everything)
    return World(
        controller, owner, {identity(c): c for c in everything}, tuple(related), NOW,
        draw(SAID), draw(LOGS), draw(RECORDS), draw(st.booleans()),
    )  # fmt: skip
