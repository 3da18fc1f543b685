"""Writes what installs the controllers on a cluster, as it follows from what each of them declares.

    deploy/rbac.yaml          the rights alone
    deploy/v1/operator.yaml   the rights, and the Deployment that uses them
    deploy/v1/crd.yaml        all definitions of our own kinds in one file
    deploy/v1/kubeflow.yaml   that of Kubeflow's PaddleJob, for clusters without its operator

python tools/generate_operator.py            writes
python tools/generate_operator.py --check    writes nothing; says what differs and exits with 1
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from paddlecloud.api.crds import crd
from paddlecloud.api.kinds import OURS
from paddlecloud.api.kubeflow import KubeflowPaddleJob
from paddlecloud.controllers.all import CONTROLLERS
from paddlecloud.controllers.rights import deployment, manifests

FOLDER = Path(__file__).parent.parent / "deploy"
HEADER = "# Made by `make generate` from src/paddlecloud: change it there.\n"


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        for name, text in wanted().items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    stale = differences()
    for name in stale:
        print(f"deploy/{name} does not follow from src/paddlecloud: run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def differences() -> list[str]:
    return [
        name
        for name, text in wanted().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


def wanted() -> dict[str, str]:
    """File name to text."""
    rights = manifests(CONTROLLERS)
    return {
        "rbac.yaml": as_text(rights),
        "v1/operator.yaml": as_text([*rights, deployment()]),
        "v1/crd.yaml": as_text([crd(kind) for kind in OURS if kind is not KubeflowPaddleJob]),
        "v1/kubeflow.yaml": as_text([crd(KubeflowPaddleJob)]),
    }


def as_text(bodies: list[dict[str, object]]) -> str:
    return HEADER + yaml.dump_all(bodies, Dumper=Plain, sort_keys=False, width=110, allow_unicode=True)


class Plain(yaml.SafeDumper):
    """Writes everything out: what is said twice is no reference to the first."""

    def ignore_aliases(self, data: object) -> bool:
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
