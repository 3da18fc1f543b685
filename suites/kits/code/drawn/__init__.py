"""Data that nobody had to collect, drawn from a seed with the standard library alone."""
