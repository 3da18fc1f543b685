"""What the server says of its health: `ok`, one line a check with `?verbose`, or all lines when one failed.

The store is looked at each time. One that can be read keeps the server alive, one that can be written makes
it ready: a full disk is no reason to start anew a server that still answers. The other checks name what was
true before the server listened, as clients know it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from aiohttp import web

from ... import log
from ...errors import Unavailable
from ..store.pulse import Pulse

OPEN = ("/healthz", "/livez", "/readyz")
"""What everybody may ask; a single check is for those who are allowed to."""
LIVE, WRITES, SHUTDOWN = "etcd", "etcd-readiness", "shutdown"
STARTED = (
    "poststarthook/crd-informer-synced", "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/apiservice-registration-controller",
)  # fmt: skip
CHECKS = {
    "healthz": ("ping", "log", LIVE, *STARTED),
    "livez": ("ping", "log", LIVE, *STARTED),
    "readyz": ("ping", "log", LIVE, WRITES, "informer-sync", *STARTED, SHUTDOWN),
}
LOG = log.logger("api")
HEADERS = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}
UNKNOWN = "404 page not found\n"


class Health:
    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse

    async def answer(self, request: web.Request) -> web.Response:
        """The answer at `/livez`, `/readyz/ping`, …"""
        name, slash, check = request.rel_url.raw_path.removeprefix("/").partition("/")
        checks = CHECKS.get(name, ())
        if not checks or (slash and check not in checks):
            return web.Response(text=UNKNOWN, status=404, headers=HEADERS)
        if slash:
            problem = (await self.problems((check,))).get(check)
            text = f"internal server error: {problem}\n" if problem else "ok"
            return web.Response(text=text, status=500 if problem else 200, headers=HEADERS)
        excluded = request.query.getall("exclude", [])
        problems = await self.problems([c for c in checks if c not in excluded])
        for failed, problem in problems.items():
            LOG.warning("the check %s failed: %s", failed, problem)
        if not problems and "verbose" not in request.query:
            return web.Response(text="ok", headers=HEADERS)
        text = told(name, excluded, problems)
        return web.Response(text=text, status=500 if problems else 200, headers=HEADERS)

    async def problems(self, checks: Collection[str]) -> dict[str, str]:
        """What is wrong, by the names of the checks that fail."""
        found: dict[str, str] = {}
        try:
            if LIVE in checks:
                self._pulse.check_reading()
        except Unavailable as error:
            found[LIVE] = error.message
        try:
            if WRITES in checks:
                await self._pulse.check_writing()
        except Unavailable as error:
            found[WRITES] = error.message
        if SHUTDOWN in checks and self._pulse.ended:
            found[SHUTDOWN] = "process is shutting down"
        return found


def told(name: str, excluded: Collection[str], problems: Mapping[str, str]) -> str:
    """Check by check; why one failed is for the log: everybody may read this."""
    checks = CHECKS[name]
    lines = []
    for check in checks:
        if check in excluded:
            lines.append(f"[+]{check} excluded: ok")
        else:
            lines.append(f"[-]{check} failed: reason withheld" if check in problems else f"[+]{check} ok")
    unknown = ", ".join(f'"{one}"' for one in sorted(set(excluded) - set(checks)))
    if unknown:
        lines.append(f"warn: some health checks cannot be excluded: no matches for {unknown}")
    return "\n".join([*lines, f"{name} check {'failed' if problems else 'passed'}", ""])
