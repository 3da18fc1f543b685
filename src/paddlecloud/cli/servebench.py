"""`pdc serve bench`: how many questions a service answers, and how long its clients wait."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..api.meta import Key
from ..errors import Failed
from ..sdk.loading import Question, Report, load
from ..sdk.predicting import host_of, path_of
from .context import Settings, namespace_option, pass_settings
from .output import lay_out
from .predict import gateway_of, question
from .serve import found, serve


@serve.command()
@click.argument("name")
@click.option("--file", "file", required=True, help="The question as JSON; - reads it from the input.")
@click.option("--clients", type=click.IntRange(1, 256), default=8, show_default=True, help="At a time.")
@click.option("--seconds", type=click.FloatRange(0.1), default=10.0, show_default=True, help="How long.")
@click.option("--path", default="", help="Where to send it [default: as the question is].")
@click.option("--gateway", default="", help="Address of the gateway [default: that of the cluster here].")
@namespace_option
@pass_settings
def bench(settings: Settings, /, name: str, file: str, namespace: str, **wish: str) -> None:
    """Ask the service NAME the same question again and again; exits with 1 when an answer failed."""
    body = question(file)
    with settings.connect() as client:
        service = found(client, Key(namespace, name))
    place = (wish["gateway"] or gateway_of(settings)).rstrip("/") + (wish["path"] or path_of(service, body))
    asked = Question(place, {"Host": host_of(service), "Content-Type": "application/json"}, body)
    report = measured(asked, int(wish["clients"]), float(wish["seconds"]))
    show(report)
    if report.failures:
        worst, count = report.failures.most_common(1)[0]
        raise Failed(
            f"{sum(report.failures.values())} requests failed; {count} times: {worst}",
            next_step=f"pdc serve status {name}",
        )


def measured(asked: Question, clients: int, seconds: float) -> Report:
    console = Console(file=sys.stderr)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("0 answers", total=None)
        return load(asked, clients, seconds, lambda count: bars.update(task, description=f"{count} answers"))


def show(report: Report) -> None:
    lay_out(
        [
            ["ANSWERS", "FAILED", "PER SECOND", "P50", "P90", "P99", "LONGEST"],
            [
                str(len(report.times)),
                str(sum(report.failures.values())),
                f"{report.rate:.1f}",
                *(f"{report.within(share) * 1000:.1f} ms" for share in (0.5, 0.9, 0.99, 1.0)),
            ],
        ]
    )
