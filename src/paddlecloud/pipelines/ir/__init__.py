"""Reads what kfp 2 compiles (the intermediate representation) into our graph language."""
