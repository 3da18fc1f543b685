"""`python -m paddle_serving_client.convert`, as the original is called."""

import sys

from paddlecloud.serving.convert import main

if __name__ == "__main__":
    sys.exit(main())
