"""The writable layer of a container before anything is mounted: mount points, empty folders, hidden ones.

Whoever may not write into the folders of the machine may still write into a layer over them, so whatever a
container needs is laid out here first. Paths are followed the way the container will see them: a link of the
root leads inside the root, never out of it. The machine is no image: its links may go at any time, as those
of another cluster's plain pods do. So a link of the machine that is followed is kept in the layer, and where
a volume is to be, a folder takes its place. Only the standard library.
"""

from __future__ import annotations

import os
import stat

MOST_LINKS = 40
LASTING = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/var/run", "/var/lock")
"""Links that images have as well: a volume there is also seen where they lead."""


class Layer:
    """The folder *upper*, to be seen over *images*, the first of them in front, and over *machine* if any."""

    def __init__(self, upper: str, images: list[str], machine: str | None, mark: str) -> None:
        self._upper, self._machine = upper, machine
        self._lowers = [*images, *([] if machine is None else [machine])]
        self._mark = mark
        """The extended attribute by which an overlay takes a folder of the upper layer as the whole of it."""
        self._hidden: list[str] = []

    def hide(self, path: str, mode: int = 0o755) -> None:
        """See that *path* is an empty folder, whatever lies there below."""
        place = self.folder(path)
        target = self._upper + place
        os.chmod(target, mode)
        os.setxattr(target, self._mark, b"y")
        self._hidden.append(place)

    def point(self, path: str, folder: bool) -> str:
        """See that something can be mounted at *path*; returns where that is with all links followed."""
        if folder:
            return self.folder(path, replacing=True)
        parent, _, name = path.rstrip("/").rpartition("/")
        place = self.folder(parent or "/").rstrip("/") + "/" + name
        found, _ = self._look(place)
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(21, f"{path} is a folder, and what is to be mounted there is a file")
        # A link is replaced, not followed: what it leads to may be made anew by then, as /run is.
        if found is None or stat.S_ISLNK(found.st_mode):
            target = self._upper + place
            if os.path.lexists(target):
                os.unlink(target)
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        return place

    def folder(self, path: str, replacing: bool = False) -> str:
        """See that *path* is a folder; returns where it is with all links followed.

        With *replacing* the last of them is not followed, if it is of the machine and no image would have it.
        """
        place, rest, links = "", [part for part in path.split("/") if part], 0
        while rest:
            part = rest.pop(0)
            if part == "..":
                place = place.rpartition("/")[0]
                continue
            here = f"{place}/{part}"
            found, layer = self._look(here)
            if found is not None and stat.S_ISLNK(found.st_mode):
                link = self._link(here, layer)
                of_machine = layer == self._machine
                if link and not (replacing and not rest and of_machine and here not in LASTING):
                    links += 1
                    if links > MOST_LINKS:
                        raise OSError(40, f"too many links on the way to {path}")
                    if of_machine:
                        os.symlink(link, self._upper + here)
                    place = "" if link.startswith("/") else place
                    rest = [p for p in link.split("/") if p and p != "."] + rest
                    continue
                found = None
            if found is not None and not stat.S_ISDIR(found.st_mode):
                raise NotADirectoryError(20, f"{here} is not a folder")
            self._make(here, found)
            place = here
        return place or "/"

    def _make(self, place: str, found: os.stat_result | None) -> None:
        """The folder *place* in the upper layer, with the looks of the one it will cover."""
        target = self._upper + place
        if os.path.isdir(target):
            return
        os.mkdir(target, 0o755)
        if found is not None:
            os.chmod(target, stat.S_IMODE(found.st_mode))
            if os.geteuid() == 0 and (found.st_uid, found.st_gid) != (0, 0):
                try:
                    os.chown(target, found.st_uid, found.st_gid)
                except OSError:
                    # In a user namespace most owners have no name; ours will do.
                    os.chmod(target, 0o755)

    def _look(self, place: str) -> tuple[os.stat_result | None, str]:
        """What is at *place*, and the layer it is of."""
        for layer in self._layers(place):
            try:
                return os.lstat(layer + place), layer
            except (FileNotFoundError, NotADirectoryError):
                continue
            except PermissionError:
                break
        return None, self._upper

    def _link(self, place: str, layer: str) -> str:
        """Where the link leads; empty if it is gone since."""
        try:
            return os.readlink(layer + place)
        except OSError:
            return ""

    def _layers(self, place: str) -> list[str]:
        hidden = any(place.startswith(folder + "/") for folder in self._hidden)
        return [self._upper] if hidden else [self._upper, *self._lowers]
