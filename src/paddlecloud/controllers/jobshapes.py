"""Whether the templates of a PaddleJob can be read at all; pure.

The definition of the kind refuses one that cannot; a job that was stored under an older one is told.
"""

from __future__ import annotations

from ..api.paddlejob import PaddleJob, PaddleJobSpec
from ..api.template import misshapen


class Shapes:
    """What was found last: each look at a job asks several times."""

    def __init__(self) -> None:
        self._newest: tuple[PaddleJobSpec | None, str] = (None, "")

    def of(self, spec: PaddleJobSpec) -> str:
        # Specs are frozen: the same one has the same shape.
        if self._newest[0] is not spec:
            self._newest = (spec, fault(spec))
        return self._newest[1]


SHAPES = Shapes()


def misshapen_role(job: PaddleJob) -> str:
    """Which part of a template is no list, object or text where it has to be; empty where none is."""
    return SHAPES.of(job.spec)


def fault(spec: PaddleJobSpec) -> str:
    found = (misshapen(role.template, path=f"{name}.template") for name, role in spec.roles().items())
    return next(filter(None, found), "")
