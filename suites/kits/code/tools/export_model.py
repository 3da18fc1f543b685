"""`python tools/export_model.py -c CONFIG -o KEY=VALUE …`: see `kit.command`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kit.command import main

if __name__ == "__main__":
    sys.exit(main("export"))
