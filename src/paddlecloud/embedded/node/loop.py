"""The one place where a shim waits: for signals, for descriptors, for the clock.

Signals come as data through a signalfd, so that none interrupts anything and none is lost before somebody
asks. Only the standard library. While nothing happens a loop costs nothing.
"""

from __future__ import annotations

import ctypes
import os
import select
import time

from .lightly import signal

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `collections.abc` and `typing` costs every shim memory
    from collections.abc import Callable, Iterable

LIBC = ctypes.CDLL(None, use_errno=True)
_signalfd = LIBC.signalfd
SIGNAL_RECORD = SIGNAL_SET = 128
"""Bytes."""


class Loop:
    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, float, Callable[[], None]]] = []

    def add(self, fd: int, callback: Callable[[int], None], events: int = select.POLLIN) -> None:
        """Call *callback* with what `poll` says whenever *fd* is ready or hung up, until it is removed."""
        self._poll.register(fd, events)
        self._ready[fd] = callback

    def remove(self, fd: int) -> None:
        """Forget *fd*, before it is closed; one that is not known is no mistake."""
        if self._ready.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def every(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timers.append((time.monotonic() + seconds, seconds, callback))

    def on_signals(self, numbers: Iterable[int], callback: Callable[[int], None]) -> None:
        """Call *callback* with the number of every signal of *numbers* sent to this process from now on."""
        numbers = set(numbers)
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        mask = sum(1 << (number - 1) for number in numbers).to_bytes(SIGNAL_SET, "little")
        fd = _signalfd(-1, mask, os.O_CLOEXEC | os.O_NONBLOCK)
        if fd < 0:
            raise OSError(ctypes.get_errno(), "signalfd")

        def read(_: int) -> None:
            try:
                while True:
                    records = os.read(fd, SIGNAL_RECORD * 8)
                    for start in range(0, len(records), SIGNAL_RECORD):
                        callback(int.from_bytes(records[start : start + 4], "little"))
            except BlockingIOError:
                return

        self.add(fd, read)

    def run(self, over: Callable[[], bool]) -> None:
        """Wait and call back until *over*."""
        while not over():
            for fd, events in self._poll.poll(self._patience()):
                # An earlier callback of this round may have removed it.
                if fd in self._ready:
                    self._ready[fd](events)
            self._ring()

    def drain(self, seconds: float) -> None:
        """Serve what is ready now, for at most *seconds*: the last words of a container that has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready = [(fd, events) for fd, events in self._poll.poll(0) if fd in self._ready]
            if not ready:
                return
            for fd, events in ready:
                if fd in self._ready:
                    self._ready[fd](events)

    def _patience(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, min(due for due, _, _ in self._timers) - time.monotonic()) * 1000

    def _ring(self) -> None:
        now = time.monotonic()
        for index, (due, period, callback) in enumerate(self._timers):
            if due <= now:
                self._timers[index] = (now + period, period, callback)
                callback()
