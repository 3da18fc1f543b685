"""PaddleDetection's commands on a small network: things on a picture, with their places."""
