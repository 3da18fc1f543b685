"""The control plane of an embedded cluster without a node, for the contracts: pods stay where they are.

python -m tests.embedded_api HOME
"""

from __future__ import annotations

import asyncio
import sys

from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.embedded import identity
from paddlecloud.embedded.server.serve import serving
from paddlecloud.embedded.workloads import run as controllers
from paddlecloud.settings import Home


async def main(home: Home) -> None:
    async with serving(home, identity.establish(home)):
        await controllers.run(home, from_kubeconfig(home.run / "controllers.kubeconfig"))


if __name__ == "__main__":
    asyncio.run(main(Home(sys.argv[1])))
