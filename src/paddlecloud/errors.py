"""Every error a user can meet, as one tree.

    PaddleCloudError                what went wrong, with its evidence and the next step
    ├── ApiError                    answers of a Kubernetes API; `status` and `reason` are on the class
    │   ├── BadRequest 400          ├── NotFound 404         ├── Conflict 409
    │   ├── Unauthorized 401        ├── MethodNotAllowed 405 │   └── AlreadyExists
    │   ├── Forbidden 403           ├── NotAcceptable 406    ├── Expired 410
    │   ├── TooLarge 413            ├── UnsupportedMedia 415 ├── Invalid 422
    │   ├── TooManyRequests 429     └── ServerError 500      └── Unavailable 503 (Timeout 504,
    │                                                             NoSpace 507)
    ├── Unreachable                 no cluster answered
    ├── WrongUse                    the command line or the input makes no sense
    ├── AlreadyRunning              a second cluster on one home
    ├── TimedOut                    a wait ended before what it waited for
    └── Failed                      what was asked for was tried and did not succeed

One handler turns any of them into a Kubernetes `Status`, a line on the terminal or a page.
Errors of other libraries never leave the module that uses them: they are chained here.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PaddleCloudError(Exception):
    """A sentence for the user; `next_step` says what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.next_step}" if self.next_step else self.message


class ApiError(PaddleCloudError):
    """An answer of a Kubernetes API that is not a success."""

    status: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(self, message: str, *, details: dict[str, Any] | None = None, next_step: str = "") -> None:
        super().__init__(message, next_step=next_step)
        self.details = details or {}

    def as_status(self) -> dict[str, Any]:
        """The `Status` object that goes over the wire."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.status,
        }
        if self.details:
            body["details"] = self.details
        return body


class BadRequest(ApiError):
    status, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    status, reason = 401, "Unauthorized"


class Forbidden(ApiError):
    status, reason = 403, "Forbidden"


class NotFound(ApiError):
    status, reason = 404, "NotFound"


class MethodNotAllowed(ApiError):
    status, reason = 405, "MethodNotAllowed"


class NotAcceptable(ApiError):
    status, reason = 406, "NotAcceptable"


class Conflict(ApiError):
    status, reason = 409, "Conflict"


class AlreadyExists(Conflict):
    reason = "AlreadyExists"


class Expired(ApiError):
    status, reason = 410, "Expired"


class TooLarge(ApiError):
    status, reason = 413, "RequestEntityTooLarge"


class UnsupportedMedia(ApiError):
    status, reason = 415, "UnsupportedMediaType"


class Invalid(ApiError):
    status, reason = 422, "Invalid"


class TooManyRequests(ApiError):
    status, reason = 429, "TooManyRequests"


class ServerError(ApiError):
    status, reason = 500, "InternalError"


class Unavailable(ApiError):
    status, reason = 503, "ServiceUnavailable"


class NoSpace(Unavailable):
    status, reason = 507, "InsufficientStorage"


class Timeout(ApiError):
    status, reason = 504, "Timeout"


BY_REASON: dict[str, type[ApiError]] = {
    kind.reason: kind
    for kind in (
        BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable, Conflict,
        AlreadyExists, Expired, TooLarge, UnsupportedMedia, Invalid, TooManyRequests, ServerError,
        Unavailable, NoSpace, Timeout,
    )
}  # fmt: skip
BY_STATUS: dict[int, type[ApiError]] = {
    kind.status: kind for kind in BY_REASON.values() if kind is not AlreadyExists
}


def from_status(code: int, body: dict[str, Any]) -> ApiError:
    """The error that a `Status` answer (or any body with that HTTP code) stands for."""
    reason = body.get("reason") or ""
    # `Gone` is what older servers say for `Expired`.
    kind = BY_REASON.get(reason) or BY_STATUS.get(code) or ServerError
    return kind(body.get("message") or f"the server answered {code}", details=body.get("details") or {})


class Unreachable(PaddleCloudError):
    exit_code = 3


class WrongUse(PaddleCloudError):
    exit_code = 2


class AlreadyRunning(PaddleCloudError):
    pass


class TimedOut(PaddleCloudError):
    exit_code = 4


class Failed(PaddleCloudError):
    pass
