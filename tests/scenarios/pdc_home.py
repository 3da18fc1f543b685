"""A home as its owner uses it: every deed is a `pdc` command, every process of it can be found."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.kubernetes.waiting import until

from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.sdk.client import Client
from paddlecloud.settings import Home, value

PDC = (sys.executable, "-m", "paddlecloud.cli.main")
LONGEST = 300.0
ENVIRONMENTS = Path(tempfile.gettempdir()) / f"paddlecloud-test-environments-{os.getuid()}"


@dataclass(frozen=True)
class Said:
    code: int
    text: str
    """Both streams, as a terminal shows them."""


class PdcHome:
    """One home; *program*, *environ* and *rights* say how `pdc` is started there."""

    def __init__(
        self,
        root: Path,
        *,
        program: Sequence[str] = PDC,
        environ: dict[str, str] | None = None,
        rights: dict[str, Any] | None = None,
    ) -> None:
        self.home = Home(root)
        self.program = program
        self.environ = environ if environ is not None else variables()
        self.rights = rights or {}

    def command(self, *words: str) -> list[str]:
        return [*self.program, "--home", str(self.home), *words]

    def pdc(self, *words: str, stdin: str = "", limit: float = LONGEST) -> Said:
        done = subprocess.run(
            self.command(*words),
            input=stdin,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environ,
            timeout=limit,
            **self.rights,
        )
        return Said(done.returncode, done.stdout)

    def ok(self, *words: str, stdin: str = "") -> str:
        """What a command said that must succeed."""
        said = self.pdc(*words, stdin=stdin)
        assert said.code == 0, f"pdc {' '.join(words)} ended with {said.code}:\n{said.text}"
        return said.text

    def apply(self, *bodies: dict[str, Any]) -> str:
        return self.ok("apply", "-f", "-", stdin=yaml.safe_dump_all(bodies))

    @contextlib.contextmanager
    def running(self, *words: str) -> Iterator[Foreground]:
        """A command in the foreground of a terminal of its own; its group is gone afterwards."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**self.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
                preexec_fn=hears_interrupts,
            )
            try:
                yield Foreground(process, output.fileno())
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def client(self) -> Client:
        return Client(from_kubeconfig(self.home.kubeconfig))

    @property
    def supervisor(self) -> int:
        return int((self.home.run / "supervisor.pid").read_text())

    def pid(self, part: str) -> int:
        """The process of a part (api, controllers, node, gateway); 0 while there is none."""
        log = self.home.logs / f"{part}.log"
        return next((p for p in children(self.supervisor) if writes_to(p, log)), 0)

    def processes(self) -> list[int]:
        """Every living process that works for this home, containers included."""
        root = os.fsencode(self.home.root)
        found = {p for p in all_pids() if p != os.getpid() and mentions(p, root)}
        # A container in a sandbox knows nothing of the home; its shim does.
        parents = {p: parent(p) for p in all_pids()}
        while below := {p for p, above in parents.items() if above in found} - found:
            found |= below
        return sorted(found)

    def wait_until_empty(self) -> None:
        try:
            until(lambda: not self.processes(), what=f"the end of every process of {self.home}")
        except TimeoutError as error:
            left = {pid: proc_file(pid, "cmdline").replace(b"\0", b" ") for pid in self.processes()}
            raise TimeoutError(f"{error}: {left}") from None

    def clear(self) -> None:
        """End all that still works here, however the test went."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.pdc("down", limit=90)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def hears_interrupts() -> None:
    """Like a shell in front of a person; tests that run in the background inherit deafness to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Foreground:
    process: subprocess.Popen[bytes]
    output: int

    def text(self) -> str:
        return os.pread(self.output, 1 << 20, 0).decode(errors="replace")

    def until_said(self, what: str, limit: float = 90.0) -> None:
        self.until(lambda: what in self.text(), what, limit)

    def until(self, condition: Callable[[], bool], what: str, limit: float = 90.0) -> None:
        def check() -> bool:
            assert self.process.poll() is None or condition(), f"ended before {what!r}:\n{self.text()}"
            return condition()

        until(check, what=f"{what!r} in the output:\n{self.text()}", limit=limit)

    def interrupt(self) -> None:
        """Ctrl-C: the terminal sends it to the whole foreground group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def ended(self, limit: float = 60.0) -> Said:
        return Said(self.process.wait(limit), self.text())


def variables() -> dict[str, str]:
    """Of this process, with the environments of the suites in the folder all tests share."""
    source = Path(__file__).parent.parent.parent / "src"
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("PADDLECLOUD_")},
        "PADDLECLOUD_ENVIRONMENTS": value("environments") or str(ENVIRONMENTS),
        "PYTHONPATH": str(source),
        # Lines as they are, not folded to the width of some terminal.
        "COLUMNS": "250",
    }


@contextlib.contextmanager
def fresh_home(**how: Any) -> Iterator[PdcHome]:
    # Not pytest's own folder: the names of sockets must stay below 108 characters.
    with tempfile.TemporaryDirectory(prefix="pdc-home-") as folder:
        home = PdcHome(Path(folder) / "h", **how)
        try:
            yield home
        finally:
            home.clear()


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def mentions(pid: int, root: bytes) -> bool:
    """Whether the command line or the environment of a process names the folder; a zombie has neither."""
    return any(root in proc_file(pid, name) for name in ("cmdline", "environ"))


def proc_file(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def children(of: int) -> list[int]:
    return [p for p in all_pids() if parent(p) == of]


def parent(pid: int) -> int:
    """0 for a process that is gone or a zombie."""
    fields = proc_file(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields and fields[0] != b"Z" else 0


def writes_to(pid: int, file: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/1") == str(file)
    except OSError:
        return False


def is_alive(pid: int) -> bool:
    fields = proc_file(pid, "stat").rpartition(b")")[2].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")


def listens(port: int) -> bool:
    """Whether anybody listens on that port of the loopback."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(f[1].endswith(f":{port:04X}") and f[3] == "0A" for f in (line.split() for line in lines))
