"""What a controller says of the children it makes and deletes, in kube-controller-manager's words; pure."""

from __future__ import annotations

from ...controllers.contract import Deed, Note


def note_of(deed: Deed, what: str, error: str) -> Note | None:
    """Of a child that was made, that could not be made, or that goes; *what* it is called before its name."""
    if deed.refusal:
        return Note("Warning", "FailedCreate", f"{error}: {deed.refusal}")
    said = {"created": ("SuccessfulCreate", "Created"), "deleted": ("SuccessfulDelete", "Deleted")}
    if deed.verb not in said:
        return None
    reason, verb = said[deed.verb]
    return Note("Normal", reason, f"{verb} {what} {deed.child.name}")
