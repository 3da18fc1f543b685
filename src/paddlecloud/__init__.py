"""PaddleCloud: from data to a served PaddlePaddle model, on a laptop and on Kubernetes."""

__version__ = "0.1.0"
