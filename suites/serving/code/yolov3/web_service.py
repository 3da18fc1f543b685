"""The pipeline service of the edge example: `POST /yolov3/prediction` on port 18082, or the one given."""

import sys

from paddlecloud.serving.server import main

if __name__ == "__main__":
    port = sys.argv[1] if len(sys.argv) > 1 else "18082"
    sys.exit(main(["--model", "yolov3=.", "--port", port]))
