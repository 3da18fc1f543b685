"""`pdc`: parses, calls, and turns every error into a sentence and an exit code."""

from __future__ import annotations

import importlib
import sys

import click

from .. import __version__, log, settings
from ..errors import PaddleCloudError
from ..settings import Home
from .context import Settings

MODULES = {
    "cluster": ("up", "down", "status", "kubeconfig"),
    "objects": ("get", "why", "wait"),
    "applying": ("apply",),
    "deleting": ("delete",),
    "creating": ("create",),
    "scaling": ("scale",),
    "describing": ("describe",),
    "logs": ("logs",),
    "executing": ("exec",),
    "copying": ("cp",),
    "forwarding": ("port-forward",),
    "top": ("top",),
    "demo": ("demo",),
    "train": ("train",),
    "data": ("data",),
    "model": ("model",),
    "servebench": ("serve",),
    "predict": ("predict",),
    "controllers": ("controllers",),
    "safekeeping": ("backup", "restore", "reset"),
    "images": ("image",),
    "pipeline": ("pipeline",),
    "template": ("template",),
}


class Commands(click.Group):
    """Imports the module of a command when it is used: few need tables, bars or pipelines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for names in MODULES.values() for name in names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        module = next((module for module, names in MODULES.items() if name in names), None)
        if module is None:
            return None
        found = vars(importlib.import_module(f".{module}", __package__)).values()
        return next(part for part in found if isinstance(part, click.Command) and part.name == name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="pdc")
@click.option(
    "--home", default=None, help=f"Folder of the embedded cluster [default: {settings.value('home', {})}]."
)
@click.option("--kubeconfig", default=None, help="Use the cluster of this kubeconfig instead.")
@click.option("--context", default=None, help="Use this context of the kubeconfig.")
@click.pass_context
def pdc(ctx: click.Context, home: str | None, kubeconfig: str | None, context: str | None) -> None:
    """PaddleCloud: from data to a served PaddlePaddle model.

    Start a cluster on this machine with `pdc up`, or see it all at once with `pdc demo`.
    """
    ctx.obj = Settings(Home(home), kubeconfig, context)


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong use, 3 cluster not reachable, 4 timed out, 130 interrupted."""
    log.set_up(settings.value("log_level"), as_json=settings.value("log_format") == "json")
    try:
        sys.exit(pdc.main(standalone_mode=False) or 0)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except PaddleCloudError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # `pdc get … | head`: the reader has seen enough.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
