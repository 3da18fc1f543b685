"""What each kind of operation asks of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Failed
from .engine import Changes, Engine, Keys, Outcome, Run
from .options import LEAVE, WarmWish, measure_wish, missing_keys, paths_of, sync_wish, warm_wish
from .paths import covered, guarded, inside
from .shares import share


@dataclass(frozen=True)
class Deeds:
    """The operations on one partition of a set."""

    engine: Engine
    data: Path
    files: Callable[[], list[str]]
    """The paths of all files of the set."""
    keys: Callable[[str], Keys | None]
    partition: int = 0
    whole: bool = True
    """Each partition holds everything: a warm-up goes on with the rest after its share."""

    def carried_out(self, kind: str, options: dict[str, Any], run: Run) -> Outcome:
        if kind == "sync":
            return self.engine.sync(sync_wish(options, self._found), run)
        if kind == "warmup":
            wish = warm_wish(options)
            return self.engine.warm(self._near(wish), wish.threads, run, wish.bwlimit)
        if kind == "forecast":
            return self.engine.measure(measure_wish(options, self._found), run)
        if kind == "clear" and options.get(LEAVE):
            return self.engine.leave(run)
        deed = self.engine.remove if kind == "rmr" else self.engine.clear
        return deed(paths_of(options), run)

    def compared(self, options: dict[str, Any], run: Run) -> Changes | None:
        """How the source of a sync with these options has changed since."""
        return self.engine.compare(sync_wish(options, self._found), run)

    def _near(self, wish: WarmWish) -> list[str] | None:
        """The files to warm in the order to warm them; None for all."""
        if not (wish.paths or wish.file or wish.file_list or wish.strategy):
            return None
        listed = wish.file_list or self._lines(wish.file) or self.files()
        roots = [inside(path) for path in wish.paths] or [""]
        asked = [path for path in map(inside, listed) if covered(path, roots)]
        if not asked:
            raise Failed("there are no files of these paths in the sample set", next_step="correct the paths")
        if wish.strategy is None:
            return asked
        # A runtime beyond the partitions is on its way out, and no sampler's.
        taking_part = self.partition < wish.partitions
        order = wish.strategy, wish.batch_size, wish.epoch
        mine = share(asked, self.partition, wish.partitions, *order) if taking_part else []
        # Of a file that comes twice, the first time counts.
        whole = self.whole and not wish.share_only
        return list(dict.fromkeys([*mine, *asked] if whole else mine))

    def _lines(self, file: str) -> list[str]:
        if not file:
            return []
        try:
            text = guarded(self.data, inside(file)).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise Failed(f"the list of files {file} cannot be read: {error.strerror}") from error
        return [line for line in text.split("\n") if line]

    def _found(self, name: str) -> Keys | None:
        keys = self.keys(name)
        if keys is None:
            raise missing_keys(name)
        return keys
