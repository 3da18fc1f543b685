"""The API process of an embedded cluster alone, for the contracts: nothing else writes, nothing else reads.

python -m tests.embedded_api HOME
"""

from __future__ import annotations

import asyncio
import sys

from paddlecloud.embedded import identity
from paddlecloud.embedded.server import serve
from paddlecloud.settings import Home

if __name__ == "__main__":
    at = Home(sys.argv[1])
    asyncio.run(serve.run(at, identity.establish(at)))
