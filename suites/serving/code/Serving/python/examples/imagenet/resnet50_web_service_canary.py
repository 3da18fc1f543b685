"""The same service, whose answers tell that they are the canary's."""

import os
import sys

from paddlecloud.serving.server import main

if __name__ == "__main__":
    model, _, port = sys.argv[1:4]
    os.environ["IS_CANARY"] = "1"
    sys.exit(main(["--model", f"image={model}", "--port", port]))
