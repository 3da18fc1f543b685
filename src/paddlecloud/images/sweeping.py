"""Takes images away: names first, then what nothing leads to, so that a crash between leaves only litter.

Nobody can be adding meanwhile; a leftover of an earlier crash goes with the rest.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .failures import ImageFailure
from .garbage import Holdings, Parts, Removal, removal
from .layout import Store, remove_tree


def holdings(store: Store) -> Holdings:
    parts: dict[str, Parts] = {}
    entries = store.entries()
    for entry in entries:
        try:
            manifest = store.manifest(entry.manifest.digest)
            blobs = frozenset(blob.digest for blob in manifest.blobs())
            parts[entry.manifest.digest] = Parts(blobs, frozenset(store.config(manifest).diff_ids))
        except ImageFailure:
            continue
    return Holdings(
        entries,
        parts,
        {f"sha256:{path.name}": path.stat().st_size for path in below(store, "blobs/sha256")},
        frozenset(f"sha256:{path.name}" for path in below(store, "layers")),
    )


def plan(store: Store, gone: Collection[str]) -> Removal:
    return removal(holdings(store), gone)


def sweep(store: Store, gone: Collection[str]) -> Removal:
    """Remove the names *gone* and what only they needed; raises `TimedOut` while something is being added."""
    with store.removing(), store.writing():
        store.untag(gone)
        going = plan(store, ())
        for digest in going.layers:
            # Renamed first: a tree must never be half there under its final name.
            aside = store.root / "tmp" / f"gone-{digest.removeprefix('sha256:')}"
            aside.parent.mkdir(exist_ok=True, mode=0o700)
            remove_tree(aside)
            store.tree(digest).rename(aside)
        for digest in going.blobs:
            store.blob(digest).unlink(missing_ok=True)
        for folder in ("tmp", "parts"):
            for path in below(store, folder):
                remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for path in below(store, "locks"):
            if path.name not in ("use", "index"):
                path.unlink(missing_ok=True)
    return Removal(tuple(sorted(gone)), going.blobs, going.layers, going.size)


def below(store: Store, folder: str) -> list[Path]:
    path = store.root / folder
    return sorted(path.iterdir()) if path.is_dir() else []
