"""The control plane of an embedded cluster without a node, for the contracts: pods stay where they are.

python -m tests.embedded_api HOME
"""

from __future__ import annotations

import sys

import uvloop

from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.embedded import identity
from paddlecloud.embedded.server.serve import serving
from paddlecloud.embedded.workloads import run as controllers
from paddlecloud.settings import Home


async def main(home: Home) -> None:
    async with serving(home, identity.establish(home)):
        # What kube-controller-manager does; our own controllers would write where a contract looks.
        access = from_kubeconfig(home.run / "controllers.kubeconfig")
        await controllers.run(home, access, controllers.WORKLOADS)


if __name__ == "__main__":
    uvloop.run(main(Home(sys.argv[1])))
