"""What a training can go on from: one folder an epoch, and a file that names the newest whole one.

The name is changed in one step after the folder is whole, so that whoever is killed meanwhile finds the one
before. The folder must be one that all processes of the job see.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NEWEST = "newest.json"


@dataclass(frozen=True)
class Checkpoint:
    epoch: int
    """How many epochs are done."""
    folder: Path


@dataclass(frozen=True)
class Checkpoints:
    root: Path | None
    """None: nothing is kept."""

    def newest(self) -> Checkpoint | None:
        if self.root is None:
            return None
        try:
            said = json.loads((self.root / NEWEST).read_text())
            found = Checkpoint(int(said["epoch"]), self.root / str(said["folder"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if found.folder.is_dir() else None

    def write(self, epoch: int, save: Callable[[Path], None]) -> None:
        """Let *save* fill the folder of an epoch, then make it the newest; older ones go."""
        if self.root is None:
            return
        folder = self.root / f"epoch-{epoch:04d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        save(folder)
        part = self.root / f".{NEWEST}.{os.getpid()}"
        part.write_text(json.dumps({"epoch": epoch, "folder": folder.name}) + "\n")
        os.replace(part, self.root / NEWEST)
        for other in self.root.glob("epoch-*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
