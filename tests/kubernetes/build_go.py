"""Programs the tests need, compiled from the Go modules that are pinned here, once a version.

A finished program is a folder in the user's cache with its binary, its links, and `source`, the digest of
what it was made from. `source` is written last: without it, or with another one, there is no program.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paddlecloud.errors import Failed, PaddleCloudError

GIGABYTE = 1 << 30
CANNOT = 3


class CannotBuild(PaddleCloudError):
    """This machine lacks what a build needs; nothing is wrong with the sources."""

    exit_code = CANNOT


@dataclass(frozen=True)
class GoProgram:
    """One main package, and the module file that says of which version it is built."""

    name: str
    """As a sentence names it; in lower case also its folder in the cache."""
    source: Path
    module: str
    pinned_by: str
    """The module whose version is the version of the program."""
    binary: str
    """Where it lies in its folder."""
    needed: int
    """Bytes of disk for modules, compiled packages and the binary, from nothing."""
    minutes: int
    """What a first build takes on two cores."""
    links: tuple[str, ...] = ()
    """Other names of the binary, beside it."""
    files: tuple[str, ...] = ()
    """Of the module that is pinned, or `MODULE:FILE` of one it needs: copied to the folder under their last
    names, for who runs the binary; a folder whole."""
    packages: tuple[str, ...] = ()
    """Main packages of other modules, built as they are instead of one of ours: each becomes a binary beside
    `binary`, which is one of them."""

    @property
    def version(self) -> str:
        """As Kubernetes writes it, v1.33.13; its libraries call the same v0.33.13."""
        file = self.source / self.module
        pin = rf"^(?:require)?\s*{re.escape(self.pinned_by)} v([01])(\.\S+)(?: // indirect)?$"
        pinned = re.search(pin, file.read_text(), re.M)
        if not pinned:
            raise Failed(f"{file} does not pin {self.pinned_by}", next_step="restore the file")
        return f"v{1 if self.pinned_by.startswith('k8s.io/') else pinned[1]}{pinned[2]}"

    def folder(self, environ: Mapping[str, str] = os.environ) -> Path:
        root = environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(root).expanduser() / "paddlecloud" / self.name.lower() / self.version

    def built(self) -> Path | None:
        """The binary if an up-to-date one is in the cache."""
        stamp = self.folder() / "source"
        fresh = stamp.is_file() and stamp.read_text() == self.digest()
        return self.folder() / self.binary if fresh else None

    def build(self) -> Path:
        """The binary, built now unless it is in the cache; raises `CannotBuild` where that is impossible."""
        if found := self.built():
            return found
        go = self.find_go()
        folder = self.folder()
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            # Whoever held the lock may have built it meanwhile.
            return self.built() or self._build_in(folder, go)

    def find_go(self) -> str:
        go, needed = shutil.which("go"), self.go_needed()
        if not go:
            raise CannotBuild(
                f"Go is not installed, so {self.name} {self.version} cannot be built here",
                next_step=f"install Go {needed} or later and put it on PATH",
            )
        answer = go_says(go, "GOVERSION").removeprefix("go")
        if numbers(answer) < numbers(needed):
            raise CannotBuild(
                f"{go} is Go {answer}; {self.name} {self.version} needs {needed}",
                next_step=f"install Go {needed} or later and put it first on PATH",
            )
        return go

    def go_needed(self) -> str:
        line = re.search(r"^go (\S+)$", (self.source / self.module).read_text(), re.M)
        return line[1] if line else "1.24.0"

    def digest(self) -> str:
        module = self.source / self.module
        files = [*sorted(self.source.glob("*.go")), module, module.with_suffix(".sum")]
        parts = [path.read_bytes() for path in files]
        rest = [self._link_flags().encode(), *(name.encode() for name in (*self.files, *self.packages))]
        return hashlib.sha256(b"\0".join([*parts, *rest])).hexdigest()

    def _build_in(self, folder: Path, go: str) -> Path:
        places = (Path(go_says(go, "GOCACHE")), Path(go_says(go, "GOMODCACHE")), folder)
        check_disk(places, self.needed, f"{self.name} {self.version}")
        print(
            f"building {self.name} {self.version}: about {self.minutes} minutes on 2 cores the first time",
            flush=True,
        )
        (folder / "source").unlink(missing_ok=True)
        binary = folder / self.binary
        binary.parent.mkdir(parents=True, exist_ok=True)
        self._compile_to(binary, go)
        for name in self.links:
            link = binary.with_name(name)
            link.unlink(missing_ok=True)
            link.symlink_to(binary.name)
        self._copy_files(folder, go)
        (folder / "source").write_text(self.digest())
        return binary

    def _compile_to(self, target: Path, go: str) -> None:
        # Two compilers at once stay below 2.5 GB; the link of all of Kubernetes takes that much alone.
        command = [go, "build", "-p", "2", "-mod=readonly", f"-modfile={self.module}", "-trimpath"]
        command += ["-buildvcs=false", "-ldflags", self._link_flags(), "-o"]
        command += [str(target.parent), *self.packages] if self.packages else [str(target), "."]
        done = subprocess.run(command, cwd=self.source, env=go_environment(), check=False)
        if done.returncode:
            raise Failed(
                f"go build of {self.name} {self.version} failed with code {done.returncode}, "
                "see its messages above",
                next_step="if modules could not be fetched, set GOPROXY to a reachable proxy and try again",
            )

    def _copy_files(self, folder: Path, go: str) -> None:
        folders: dict[str, Path] = {}
        for name in self.files:
            module, _, path = name.rpartition(":")
            module = module or self.pinned_by
            if module not in folders:
                folders[module] = self._folder_of(module, go)
            copy(folders[module] / path, folder / Path(path).name)

    def _folder_of(self, module: str, go: str) -> Path:
        # The build has just fetched it.
        command = [go, "list", "-mod=readonly", f"-modfile={self.module}", "-m", "-f", "{{.Dir}}", module]
        found = subprocess.run(
            command, cwd=self.source, env=go_environment(), capture_output=True, text=True, check=False
        )
        if found.returncode:
            raise Failed(
                f"the files of {module} cannot be found: {found.stderr.strip()}", next_step="build it again"
            )
        return Path(found.stdout.strip())

    def _link_flags(self) -> str:
        """Without a version a server calls itself v0.0.0 and kubectl warns of skew."""
        major, minor, _ = self.version.removeprefix("v").split(".", 2)
        values = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        package = "k8s.io/component-base/version"
        return " ".join(["-s", "-w", *(f"-X {package}.{name}={value}" for name, value in values.items())])


def check_disk(places: Iterable[Path], needed: int, what: str) -> None:
    """A build that fills the disk harms more than this project: look first."""
    for place in places:
        existing = next(p for p in (place, *place.parents) if p.is_dir())
        free = shutil.disk_usage(existing).free
        if free < needed:
            raise CannotBuild(
                f"{place} has {free / GIGABYTE:.1f} GB free; a first build of {what} needs about "
                f"{needed / GIGABYTE:.0f} GB",
                next_step="make room, or point XDG_CACHE_HOME, GOCACHE and GOMODCACHE to a larger disk",
            )


def copy(source: Path, target: Path) -> None:
    """Without modes: what lies in the cache of modules cannot be written to."""
    if not source.is_dir():
        shutil.copyfile(source, target)
        return
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        copy(path, target / path.name)


def go_says(go: str, variable: str) -> str:
    done = subprocess.run(
        [go, "env", variable], env=go_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotBuild(f"`{go} env {variable}` failed: {done.stderr.strip()}", next_step="repair Go")
    return done.stdout.strip()


def go_environment() -> dict[str, str]:
    # The toolchain at hand, static binaries, and none of the flags someone set for other builds.
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text)[:3])


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; a second one waits and finds the work done."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
