"""PaddleNLP's text classification on a small transformer."""
