"""PaddleOCR's two halves on small networks of ours: finding text (DB) and reading it (CTC)."""
