"""The command line: one file a noun; every command is a few lines around a function."""
