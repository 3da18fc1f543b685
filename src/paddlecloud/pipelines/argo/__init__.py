"""Reads what kfp 1.8 compiles (Argo Workflows) into our graph language."""
