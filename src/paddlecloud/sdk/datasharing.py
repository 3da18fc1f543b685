"""Which data sets see each other's files, because they name one JuiceFS file system; pure.

Sharing can be meant, so nobody is refused; it is shown, because what one set removes is gone for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from ..api.sampleset import SampleSet

JUICEFS = "juicefs"


def sharers(data: SampleSet, others: Iterable[SampleSet]) -> list[str]:
    """The names of *others* in its namespace whose files are its own, or some of them."""
    return sorted(o.name for o in others if o.name != data.name and meet(data, o))


def meet(one: SampleSet, other: SampleSet) -> bool:
    if one.namespace != other.namespace or not (one.status.engine == other.status.engine == JUICEFS):
        return False
    secrets = [s.spec.secret_ref.name if s.spec.secret_ref else "" for s in (one, other)]
    a, b = folder(one), folder(other)
    return bool(secrets[0]) and secrets[0] == secrets[1] and (a.is_relative_to(b) or b.is_relative_to(a))


def folder(data: SampleSet) -> PurePosixPath:
    """What the set sees of the file system."""
    said = str(data.spec.csi.juice_fs_mount_options.get("sub-dir") or "")
    return PurePosixPath("/" + said.strip("/"))
