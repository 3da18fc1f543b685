"""Builds the Kubernetes the tests run against, once a version, into the user's cache.

A finished build is a folder with `bin/hyperkube`, a link for each component, and `source`, the digest of
what it was made from. The folder's `source` is written last: without it there is no build.

    python -m tests.kubernetes.build        builds if needed; exit code 3 where this machine cannot
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from paddlecloud.errors import Failed, PaddleCloudError

SOURCE = Path(__file__).parent / "hyperkube"
COMPONENTS = (
    "etcd", "informer", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler",
    "kubectl", "kubelet",
)  # fmt: skip
DISK_NEEDED = 8 << 30
"""Modules, compiled packages and the binary, from nothing."""
CANNOT = 3


class CannotBuild(PaddleCloudError):
    """This machine lacks what a build needs; nothing is wrong with the sources."""

    exit_code = CANNOT


def main() -> int:
    try:
        print(f"Kubernetes {version()} is ready in {build()}", flush=True)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def version() -> str:
    """The one version that `go.mod` pins, as Kubernetes writes it: v1.33.13."""
    pinned = re.search(r"^\s*k8s\.io/kubernetes (v\S+)$", (SOURCE / "go.mod").read_text(), re.M)
    if not pinned:
        raise Failed(f"{SOURCE / 'go.mod'} does not pin k8s.io/kubernetes", next_step="restore the file")
    return pinned[1]


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    root = environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "paddlecloud" / "kubernetes" / version()


def built() -> Path | None:
    """The folder with the components if an up-to-date build is in the cache."""
    folder = cache_folder()
    stamp = folder / "source"
    return folder / "bin" if stamp.is_file() and stamp.read_text() == source_digest() else None


def build() -> Path:
    """The folder with the components, built now unless it is in the cache."""
    if found := built():
        return found
    go = find_go()
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock"):
        # Whoever held the lock may have built it meanwhile.
        return built() or build_in(folder, go)


def build_in(folder: Path, go: str) -> Path:
    check_disk((Path(go_says(go, "GOCACHE")), Path(go_says(go, "GOMODCACHE")), folder))
    print(f"building Kubernetes {version()}: about 8 minutes on 2 cores the first time", flush=True)
    (folder / "source").unlink(missing_ok=True)
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    compile_to(binaries / "hyperkube", go)
    for name in COMPONENTS:
        (binaries / name).unlink(missing_ok=True)
        (binaries / name).symlink_to("hyperkube")
    (folder / "source").write_text(source_digest())
    return binaries


def compile_to(target: Path, go: str) -> None:
    # Two compilers at once stay below 2.5 GB; the link alone takes that much.
    command = [go, "build", "-p", "2", "-mod=readonly", "-trimpath", "-buildvcs=false"]
    command += ["-ldflags", link_flags(), "-o", str(target), "."]
    done = subprocess.run(command, cwd=SOURCE, env=go_environment(), check=False)
    if done.returncode:
        raise Failed(
            f"go build of Kubernetes {version()} failed with code {done.returncode}, see its messages above",
            next_step="if modules could not be fetched, set GOPROXY to a reachable proxy and run it again",
        )


def link_flags() -> str:
    """Without a version the server calls itself v0.0.0 and kubectl warns of skew."""
    major, minor, _ = version().removeprefix("v").split(".", 2)
    values = {"gitVersion": version(), "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    package = "k8s.io/component-base/version"
    return " ".join(["-s", "-w", *(f"-X {package}.{name}={value}" for name, value in values.items())])


def find_go() -> str:
    go = shutil.which("go")
    if not go:
        raise CannotBuild(
            f"Go is not installed, so Kubernetes {version()} cannot be built here",
            next_step=f"install Go {go_needed()} or later and put it on PATH",
        )
    answer = go_says(go, "GOVERSION").removeprefix("go")
    if numbers(answer) < numbers(go_needed()):
        raise CannotBuild(
            f"{go} is Go {answer}; Kubernetes {version()} needs {go_needed()}",
            next_step=f"install Go {go_needed()} or later and put it first on PATH",
        )
    return go


def check_disk(places: Iterable[Path], needed: int = DISK_NEEDED) -> None:
    """A build that fills the disk harms more than this project: look first."""
    for place in places:
        existing = next(p for p in (place, *place.parents) if p.is_dir())
        free = shutil.disk_usage(existing).free
        if free < needed:
            raise CannotBuild(
                f"{place} has {free / (1 << 30):.1f} GB free; a first build of Kubernetes needs about "
                f"{needed / (1 << 30):.0f} GB",
                next_step="make room, or point XDG_CACHE_HOME, GOCACHE and GOMODCACHE to a larger disk",
            )


def go_needed() -> str:
    line = re.search(r"^go (\S+)$", (SOURCE / "go.mod").read_text(), re.M)
    return line[1] if line else "1.24.0"


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


def source_digest() -> str:
    parts = [(SOURCE / name).read_bytes() for name in ("main.go", "go.mod", "go.sum")]
    return hashlib.sha256(b"\0".join([*parts, link_flags().encode()])).hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; a second one waits and finds the work done."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
