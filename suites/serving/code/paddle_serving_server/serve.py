"""`python -m paddle_serving_server.serve`, as the original is called."""

import sys

from paddlecloud.serving.servingcommand import main

if __name__ == "__main__":
    sys.exit(main())
