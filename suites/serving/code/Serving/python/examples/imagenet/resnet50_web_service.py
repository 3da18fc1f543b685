"""`python3 resnet50_web_service.py MODEL DEVICE PORT`: serves the pictures' model under /image/prediction."""

import sys

from paddlecloud.serving.server import main

if __name__ == "__main__":
    model, _, port = sys.argv[1:4]
    sys.exit(main(["--model", f"image={model}", "--port", port]))
