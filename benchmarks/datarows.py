"""A line of the data benchmark, and how the lines are shown."""

from __future__ import annotations

import os
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """Ours beside a peer or a limit; less is better in both."""

    what: str
    ours: float
    peer: str
    """Who the other is; empty: a limit."""
    theirs: float
    wanted: float
    """The least ratio."""
    more: str = ""
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Above 1: ours is better."""
        return self.theirs / self.ours if self.ours else float("inf")


def show(rows: list[Row], notes: list[str]) -> None:
    title = f"data; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for name in ("ours", "theirs", "ratio", "wanted"):
        table.add_column(name, justify="right")
    table.add_column("beside")
    for row in rows:
        peer = f"{row.theirs:.2f} {row.unit} ({row.peer})" if row.peer else f"≤ {row.theirs:g} {row.unit}"
        good = f"{row.ratio:.2f}" if row.ratio >= row.wanted else f"[bold]{row.ratio:.2f}[/bold]"
        table.add_row(row.what, f"{row.ours:.2f} {row.unit}", peer, good, f"≥ {row.wanted:g}", row.more)
    console = Console(width=150)
    console.print(table)
    for note in notes:
        console.print(note)
