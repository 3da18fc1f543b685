"""What a pod without a node lacks, and the ways out of it; pure.

The scheduler counts nodes in words of its own; a person wants to know what is missing and what to do. What is
not among the shortages known here stays in the scheduler's words alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..api.core import Pod

GPU = "nvidia.com/gpu"
TOO_FEW = f"Insufficient {GPU}"
NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"


def without_node(pod: Pod, message: str, pods: Iterable[Pod]) -> str:
    """Why *pod* has no node; *message*: the scheduler's words, *pods*: all that start together with it."""
    if TOO_FEW in message:
        wanted, together = gpus_of(pod), sum(gpus_of(p) for p in pods)
        return (
            f"pod {pod.name} asks for {counted(wanted)}, which no node has to give; add a node with GPUs, "
            f"remove the limit {GPU}, or try on the CPU with `pdc up --pretend-gpus {together}` ({message})"
        )
    if NOT_SELECTED in message and (labels := pod.spec.get("nodeSelector")):
        told = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
        options = " ".join(f"--node-label {name}={value}" for name, value in sorted(labels.items()))
        words = told.replace(",", " ")
        return (
            f"pod {pod.name} wants a node with {told}, and none has it; `kubectl label node NODE {words}`, "
            f"start with `pdc up {options}`, or remove its nodeSelector ({message})"
        )
    return f"pod {pod.name} has no node: {message}"


def gpus_of(pod: Pod) -> int:
    given = [
        str(((container.get("resources") or {}).get("limits") or {}).get(GPU, 0))
        for container in pod.spec.get("containers") or ()
    ]
    return sum(int(count) for count in given if count.isdecimal())


def counted(gpus: int) -> str:
    return "a GPU" if gpus == 1 else f"{gpus} GPUs"
