"""How the controllers are: whether they see the cluster, and what each of them failed at last."""

from __future__ import annotations

from ..api.meta import Key


class Health:
    """Written by the runtime, read by whoever reports; an object that succeeds takes its error back."""

    def __init__(self) -> None:
        self.synced = False
        """All caches have been filled once."""
        self._errors: dict[str, dict[Key, str]] = {}

    def failed(self, controller: str, key: Key, error: str) -> None:
        errors = self._errors.setdefault(controller, {})
        errors.pop(key, None)
        errors[key] = error

    def succeeded(self, controller: str, key: Key) -> None:
        self._errors.get(controller, {}).pop(key, None)

    def last_error(self, controller: str) -> str:
        """What it failed at last and has not got over, or an empty text."""
        errors = self._errors.get(controller)
        if not errors:
            return ""
        key, error = next(reversed(errors.items()))
        return f"{key}: {error}"
