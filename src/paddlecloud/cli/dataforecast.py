"""`pdc data forecast` and `pdc data report`: what warming would gain, and what it did."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console

from ..api.forecast import Forecast
from ..api.meta import Key
from ..sdk import dataforecasts
from ..sdk.datareports import Report
from ..sizes import size
from .context import Settings, namespace_option, pass_settings
from .output import lay_out

form_option = click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")


@click.command()
@click.argument("name")
@click.option("--job", default="", help="PaddleJob that will read the data.")
@click.option("--readers", type=click.IntRange(1, 64), help="Readers of each worker  [default: 2].")
@click.option("--seconds", type=click.IntRange(1, 60), help="How long to measure  [default: 6].")
@click.option("--compute-ms", type=click.FloatRange(0), help="What the training computes for each file.")
@click.option("--timeout", type=float, default=dataforecasts.PATIENCE, help="Seconds to wait for it.")
@form_option
@namespace_option
@pass_settings
def forecast(settings: Settings, /, name: str, namespace: str, output: str, **wish: Any) -> None:
    """Measure for a few seconds and predict what warming a data set takes and gains."""
    options = {
        "job": wish["job"],
        "readers": wish["readers"],
        "seconds": wish["seconds"],
        "computeMilliseconds": wish["compute_ms"],
    }
    with settings.connect() as client, Console(file=sys.stderr).status(f"measuring {name}"):
        found = dataforecasts.forecast(client, Key(namespace, name), options, wish["timeout"])
    if output == "json":
        click.echo(json.dumps(found.wire(), indent=2))
        return
    show_forecast(found)


@click.command()
@click.argument("name")
@click.option("--job", default="", help="PaddleJob that read the data  [default: that of the forecast].")
@form_option
@namespace_option
@pass_settings
def report(settings: Settings, /, name: str, job: str, namespace: str, output: str) -> None:
    """What was predicted of a data set beside what happened."""
    with settings.connect() as client:
        found = dataforecasts.report(client, Key(namespace, name), job)
    if output == "json":
        click.echo(json.dumps(found.json(), indent=2))
        return
    show_report(found)


def show_forecast(found: Forecast) -> None:
    speeds = found.speeds
    lay_out(
        [
            ["data", f"{found.files:,} files, {size(found.bytes)}, {size(found.missing)} to be fetched"],
            ["read by", f"{found.workers} workers with {found.readers} readers each"],
            ["link", f"{rate(speeds.link)}, {rate(speeds.cold)} for the readers alone"],
            ["near", rate(speeds.near)],
            ["to warm", shown(found.warm_seconds)],
            ["an epoch, cold", shown(found.cold_epoch_seconds)],
            ["an epoch, warm", shown(found.warm_epoch_seconds)],
            ["gain", f"{found.gain:.2f} times" + worth(found)],
        ]
    )


def worth(found: Forecast) -> str:
    if not found.pays_after:
        return "" if not found.missing else "; warming does not pay"
    return f"; warming pays after {found.pays_after:.1f} epochs"


def show_report(found: Report) -> None:
    if found.forecast is None:
        click.echo("no forecast was made: pdc data forecast NAME")
    rows = [["WHAT", "PREDICTED", "HAPPENED", "HAPPENED/PREDICTED", "OF"]]
    for row in found.rows:
        unit = plain if row.what == "gain" else shown
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        rows.append([row.what, unit(row.predicted), unit(row.happened), ratio, str(row.times or "")])
    lay_out(rows)
    for job in found.operations:
        done = job.status.outcome
        if done:
            speed = rate(done.bytes / done.seconds) if done.seconds else ""
            click.echo(
                f"  {job.name}: {done.files:,} files, {size(done.bytes)} in {done.seconds:.1f} s, {speed}"
            )


def rate(speed: float) -> str:
    return f"{size(round(speed))}/s" if speed else "not known"


def plain(number: float | None) -> str:
    return f"{number:.2f}" if number is not None else ""


def shown(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
