"""Whether the data of a PaddleJob is there: no pod is made before; pure."""

from __future__ import annotations

from ..api.meta import Condition
from ..api.paddlejob import PaddleJob
from ..api.sampleset import SampleSet, SampleSetPhase
from .conditions import waiting
from .contract import Snapshot


def waits_for_data(job: PaddleJob, seen: Snapshot) -> Condition | None:
    ref = job.spec.sample_set_ref
    if ref is None:
        return None
    if ref.namespace and ref.namespace != job.namespace:
        return waiting(
            "WrongNamespace",
            f"sampleSetRef names namespace {ref.namespace}, but data can only be mounted from the job's own "
            f"namespace {job.namespace}; create the SampleSet there",
        )
    data = seen.find(SampleSet, ref.name)
    if data is None:
        return waiting(
            "WaitingForData",
            f"waits for SampleSet {ref.name}, which does not exist; create it to start the job",
        )
    if data.status.phase is not SampleSetPhase.READY:
        shown = data.status.phase.value or "new"
        return waiting(
            "WaitingForData",
            f"waits for SampleSet {ref.name} to be Ready; it is {shown} (pdc why sampleset/{ref.name})",
        )
    return None
