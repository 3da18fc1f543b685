"""What the server says of its health, as text: `ok`, or one line a check with `?verbose`; pure.

Whoever answers has its store open and its first objects made: the checks are named as clients know them.
"""

from __future__ import annotations

from collections.abc import Collection

PATHS = ("healthz", "livez", "readyz")
CHECKS = (
    "ping", "log", "etcd", "poststarthook/crd-informer-synced", "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/apiservice-registration-controller",
)  # fmt: skip
READY = ("etcd-readiness", "informer-sync")


def checks_of(path: str) -> tuple[str, ...]:
    if path != "readyz":
        return CHECKS
    return (*CHECKS[:3], *READY, *CHECKS[3:], "shutdown")


def answer(path: str, verbose: bool, excluded: Collection[str]) -> str | None:
    """The text at `/livez`, `/readyz/ping`, …; None where there is no such check."""
    name, _, check = path.strip("/").partition("/")
    if check:
        return "ok" if check in checks_of(name) else None
    if not verbose:
        return "ok"
    lines = [f"[+]{c} excluded: ok" if c in excluded else f"[+]{c} ok" for c in checks_of(name)]
    unknown = ", ".join(f'"{name}"' for name in excluded if name not in checks_of(path.strip("/")))
    if unknown:
        lines.append(f"warn: some health checks cannot be excluded: no matches for {unknown}")
    return "\n".join([*lines, f"{name} check passed", ""])
