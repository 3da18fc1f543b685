"""What `FULL=1 make test-kubernetes` builds beside Kubernetes, as one table.

Whatever is in the cache is used also without FULL, images of an older tree are made anew, half a minute each;
whatever is not there is named in one line, never passed over in silence. A row needs no more than a name, a
version, the disk it takes, and how it is built.

    python -m tests.kubernetes.build_extras            refreshes images, says what is left out
    python -m tests.kubernetes.build_extras --build    builds it
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from tests.kubernetes.build_go import GIGABYTE, CannotBuild, GoProgram
from tests.kubernetes.suite_images import CORE, DATA, RESNET, WIDE_AND_DEEP

from paddlecloud.errors import PaddleCloudError

SOURCES = Path(__file__).parent


class Extra(Protocol):
    """A row of the table; a `GoProgram` is one."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def needed(self) -> int:
        """Bytes of disk, from nothing."""

    def built(self) -> Path | None:
        """Where it is, if it is in the cache and up to date."""

    def build(self) -> Path:
        """Where it is, built if need be; raises `CannotBuild` where this machine cannot."""


def kubectl(minor: str) -> GoProgram:
    """The newest kubectl of a minor version, unmodified."""
    return GoProgram(
        name="kubectl",
        source=SOURCES / "kubectl",
        module=f"v{minor}.mod",
        pinned_by="k8s.io/kubectl",
        binary="kubectl",
        needed=2 * GIGABYTE,
        minutes=4,
    )


KUBECTLS = tuple(kubectl(minor) for minor in ("1.32", "1.34"))
"""Those the server must serve beside its own, which comes with Kubernetes."""
COREDNS = GoProgram(
    name="CoreDNS",
    source=SOURCES / "coredns",
    module="go.mod",
    pinned_by="github.com/coredns/coredns",
    binary="coredns",
    needed=2 * GIGABYTE,
    minutes=3,
)
"""The names of a real cluster with a node."""
VOLCANO_KINDS = (
    "batch.volcano.sh_jobs.yaml",
    "bus.volcano.sh_commands.yaml",
    "nodeinfo.volcano.sh_numatopologies.yaml",
    "scheduling.volcano.sh_podgroups.yaml",
    "scheduling.volcano.sh_queues.yaml",
)
VOLCANO_SETTINGS = "installer/helm/chart/volcano/config/volcano-scheduler.conf"
VOLCANO = GoProgram(
    name="Volcano",
    source=SOURCES / "volcano",
    module="go.mod",
    pinned_by="volcano.sh/volcano",
    binary="volcano",
    needed=3 * GIGABYTE,
    minutes=5,
    links=("vc-scheduler", "vc-controller-manager"),
    files=(*(f"config/crd/volcano/bases/{name}" for name in VOLCANO_KINDS), VOLCANO_SETTINGS),
)
"""Who starts the pods of a job together, with the definitions of its kinds."""
JUICEFS_CSI = GoProgram(
    name="JuiceFS-CSI",
    source=SOURCES / "juicefs-csi",
    module="go.mod",
    pinned_by="github.com/juicedata/juicefs-csi-driver",
    binary="juicefs-csi",
    needed=2 * GIGABYTE,
    minutes=4,
)
"""Who mounts JuiceFS on a real node."""
KNATIVE_PROGRAMS = ("activator", "autoscaler", "controller", "queue", "webhook")
KNATIVE_NEEDS = (
    "knative.dev/caching:config/image.yaml",
    "knative.dev/networking:config/certificate.yaml",
    "knative.dev/networking:config/config-network.yaml",
    "knative.dev/networking:config/domain-claim.yaml",
    "knative.dev/networking:config/ingress.yaml",
    "knative.dev/networking:config/serverlessservice.yaml",
)
"""Kinds and settings that its installation takes from modules beside it."""
KNATIVE = GoProgram(
    name="Knative",
    source=SOURCES / "knative",
    module="go.mod",
    pinned_by="knative.dev/serving",
    binary="bin/controller",
    needed=2 * GIGABYTE,
    minutes=4,
    packages=tuple(f"knative.dev/serving/cmd/{name}" for name in KNATIVE_PROGRAMS),
    files=("config/core", *KNATIVE_NEEDS),
)
"""Who makes revisions of services and scales them, unmodified, with the manifests that install it."""
IMAGES = (CORE, DATA, WIDE_AND_DEEP, RESNET)
EXTRAS: tuple[Extra, ...] = (*KUBECTLS, COREDNS, VOLCANO, JUICEFS_CSI, KNATIVE, *IMAGES)


def main(arguments: list[str]) -> int:
    try:
        build(EXTRAS if "--build" in arguments else [image for image in IMAGES if image.aged()])
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if line := left_out(EXTRAS):
        print(line, flush=True)
    return 0


def build(extras: Iterable[Extra]) -> None:
    """Build every row; what this machine cannot build is told, and the next one tried."""
    for extra in extras:
        try:
            print(f"{extra.name} {extra.version} is ready in {extra.build().parent}", flush=True)
        except CannotBuild as error:
            print(error, file=sys.stderr)


def left_out(extras: Iterable[Extra]) -> str:
    """One line about what the tests will do without; empty when nothing is missing."""
    missing = [extra for extra in extras if not extra.built()]
    if not missing:
        return ""
    names = ", ".join(f"{extra.name} {extra.version}" for extra in missing)
    most = max(extra.needed for extra in missing) / GIGABYTE
    return f"left out, because not built: {names} (FULL=1 builds them, with up to {most:.0f} GB of disk each)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
