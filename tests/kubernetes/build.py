"""Builds the Kubernetes the tests run against, once a version, into the user's cache.

One binary is all of its components: `bin/hyperkube` and a link for each.

    python -m tests.kubernetes.build        builds if needed; exit code 3 where this machine cannot
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.kubernetes.build_go import GIGABYTE, GoProgram

from paddlecloud.errors import PaddleCloudError

KUBERNETES = GoProgram(
    name="Kubernetes",
    source=Path(__file__).parent / "hyperkube",
    module="go.mod",
    pinned_by="k8s.io/kubernetes",
    binary="bin/hyperkube",
    needed=8 * GIGABYTE,
    minutes=8,
    links=(
        "etcd", "informer", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler",
        "kubectl", "kubelet",
    ),
)  # fmt: skip


def main() -> int:
    try:
        print(f"Kubernetes {version()} is ready in {build()}", flush=True)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def version() -> str:
    """The one version that `go.mod` pins: v1.33.13."""
    return KUBERNETES.version


def built() -> Path | None:
    """The folder with the components if an up-to-date build is in the cache."""
    binary = KUBERNETES.built()
    return binary.parent if binary else None


def build() -> Path:
    """The folder with the components, built now unless it is in the cache."""
    return KUBERNETES.build().parent


if __name__ == "__main__":
    sys.exit(main())
