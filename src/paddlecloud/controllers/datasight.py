"""What is there of a SampleSet at one moment, and what its runtimes say; pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..api.core import CSIDriver, Node, PersistentVolume, PersistentVolumeClaim, Pod
from ..api.sampleset import SampleSet
from .contract import Snapshot
from .datadepartures import Departure, departure
from .dataengines import JUICEFS, Choice, choose, no_engine, problem
from .dataruntimes import listening, runtimes, state_question
from .datasecrets import lacking, taken
from .datasyncs import Copying, copying
from .datavolumes import misread_options, volume_name
from .partitions import Report, report_of


@dataclass(frozen=True)
class Sight:
    """What is there of a set, and what its runtimes say."""

    choice: Choice
    claim: PersistentVolumeClaim | None
    volume: PersistentVolume | None
    pods: dict[int, Pod]
    reports: dict[int, Report]
    lacks: tuple[str, ...] = ()
    """What has to come from outside before anything can be made, or before the copy can begin."""
    no_engine: str = ""
    """What has to be installed before anything can be made."""
    copying: Copying = field(default_factory=lambda: Copying(None, frozenset()))
    leaving: Departure = field(default_factory=lambda: Departure(0))

    def staying(self, partitions: int) -> dict[int, Pod]:
        """The runtimes that are to be."""
        return {i: pod for i, pod in self.pods.items() if i < partitions}


def look(data: SampleSet, seen: Snapshot) -> Sight:
    choice = choose(data, seen.all(Node), seen.all(CSIDriver))
    pods = runtimes(data, seen)
    answers = {i: seen.answers.get(state_question(p, data)) for i, p in listening(pods).items()}
    reports = {
        i: report for i, body in answers.items() if i < data.spec.partitions and (report := report_of(body))
    }
    sight = Sight(
        choice,
        seen.owned(PersistentVolumeClaim).get(data.name),
        seen.owned(PersistentVolume).get(volume_name(data)),
        pods,
        reports,
        tuple(filter(None, (lacking(data, choice.engine, seen), taken(data, seen)))),
        no_engine(choice.engine, seen.all(CSIDriver)),
        leaving=departure(data, choice.engine, pods, seen),
    )
    if sight.lacks or unfit(data, choice):
        return sight
    return replace(sight, copying=copying(data, choice.engine, pods, reports, seen))


def unfit(data: SampleSet, choice: Choice) -> str:
    why = problem(data)
    return why or (misread_options(data) if choice.engine == JUICEFS else "")
