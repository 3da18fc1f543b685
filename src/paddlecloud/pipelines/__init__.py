"""Pipelines: components that are programs over the SDK, and a way to write a graph of them in Python."""
