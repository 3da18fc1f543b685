"""Beginning again a run that has ended: what failed is tried anew, what succeeded stays; pure."""

from __future__ import annotations

from ..api.workflowgraph import Graph
from ..api.workflowrun import RunPhase, StepPhase, StepStatus, WorkflowRun, WorkflowRunStatus

GOOD = (StepPhase.SUCCEEDED, StepPhase.SKIPPED)


def begun_again(run: WorkflowRun, graph: Graph) -> WorkflowRunStatus:
    """The status with which the run goes on."""
    reset = downstream(graph, run.spec.retry_from) if run.spec.retry_from else set()
    # What comes however the rest ended comes again: it is told another end.
    last = {s.name for s in graph.every_step() if s.always}
    nodes = {
        # Those of this round were made ready before a crash.
        path: node
        if node.round >= run.spec.retries or stays(path, node, last, reset)
        else anew(node, by_hand=touched(path, reset))
        for path, node in run.status.nodes.items()
    }
    return run.status.but(
        phase=RunPhase.RUNNING, nodes=nodes, completion_time=None, conditions=[], retries=run.spec.retries
    )


def stays(path: str, node: StepStatus, last: set[str], reset: set[str]) -> bool:
    return node.phase in GOOD and not node.group and node.step not in last and not touched(path, reset)


def anew(node: StepStatus, by_hand: bool) -> StepStatus:
    """The next attempt has a name of its own, so that the pod of the last one can stay."""
    following = node.attempt + 1 if node.pod else node.attempt
    return StepStatus(
        attempt=following, first_attempt=following, step=node.step, display=node.display, group=node.group,
        anew=by_hand,
    )  # fmt: skip


def touched(path: str, steps: set[str]) -> bool:
    """Whether a path is one of these steps of the whole graph, or inside of one."""
    return path == "onExit" or path.partition("/")[0].partition("(")[0] in steps


def downstream(graph: Graph, first: str) -> set[str]:
    """A step of the whole graph and all that come after it."""
    found = {first.partition("/")[0].partition("(")[0]}
    while True:
        more = {s.name for s in graph.steps if s.needs() & found} - found
        if not more:
            return found
        found |= more
