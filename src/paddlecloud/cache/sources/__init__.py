"""Where samples come from: every source lists its files and gives their bytes; none writes to the volume."""
