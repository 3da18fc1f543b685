"""When to try again and after how long: arithmetic, shared by the clients, the informers and the queue.

Chance is an argument (*luck*, from 0 up to 1), so that many clients do not come back in step.
"""

from __future__ import annotations

from .requests import Request

ATTEMPTS = 6
LONGEST_ADVICE = 10.0
BUSY = (429, 503)


def delay(failures: int, luck: float, *, first: float = 0.1, longest: float = 30.0) -> float:
    """Seconds to wait after so many failures in a row: doubling, capped, then between half and all of it."""
    # The exponent is bounded too: 2.0**5000 would overflow after a long night without a server.
    whole = min(longest, first * 2.0 ** min(max(failures - 1, 0), 40))
    return whole * (0.5 + luck / 2)


def retry_after(request: Request, attempt: int, status: int | None, advice: str, luck: float) -> float | None:
    """Seconds until a failed request may be sent again; None when it must not be.

    *status* is None when no connection came about; *advice* is the server's Retry-After.
    """
    if not request.idempotent or attempt >= ATTEMPTS:
        return None
    if status is not None and status not in BUSY:
        return None
    advised = min(float(advice), LONGEST_ADVICE) if advice.isdecimal() else 0.0
    return max(advised, delay(attempt, luck))
