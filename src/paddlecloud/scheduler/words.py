"""Why a pod has no node, in the words of kube-scheduler, which people search for; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .fitting import Misfit

NO_NODES = "no nodes available to schedule pods"
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
OTHER_NODES = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
CONFLICT = "pod affinity terms conflict"
IN_GANG = "tasks in gang unschedulable"
GATED = "Scheduling is blocked due to non-empty scheduling gates"


def counted(misfits: Iterable[Misfit], nodes: int) -> str:
    """0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable."""
    reasons = Counter(reason for misfit in misfits for reason in misfit.reasons)
    told = ", ".join(sorted(f"{n} {reason}" for reason, n in reasons.items()))
    return f"0/{nodes} nodes are available: {told}." if told else f"0/{nodes} nodes are available:"


def of_every_node(problem: str, nodes: int) -> str:
    return f"0/{nodes} nodes are available: {problem}."


def with_preemption(message: str, sentence: str) -> str:
    return f"{message} preemption: {sentence}" if sentence else message


def futile(misfits: Mapping[str, Misfit], nodes: int) -> str:
    """That nobody could make room; *misfits* tell what would be in the way still."""
    rest = Misfit((NOT_HELPFUL,), True)
    return counted([*misfits.values(), *[rest] * (nodes - len(misfits))], nodes)


def task(name: str, there: int, least: int) -> str:
    return f"pod group is not ready, task {name} has {there} pods of its {least} minAvailable"


def gang(failed: int, total: int, started: int, least: int) -> str:
    counts = [f"{total} Pending", *([f"{started} Running"] if started else ())]
    return f"{failed}/{total} {IN_GANG}: pod group is not ready, {', '.join(counts)}, {least} minAvailable"
