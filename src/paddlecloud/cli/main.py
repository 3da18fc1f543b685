"""`pdc`: parses, calls, and turns every error into a sentence and an exit code."""

from __future__ import annotations

import sys

import click

from .. import __version__, log, settings
from ..errors import PaddleCloudError
from ..settings import Home
from . import cluster, demo, objects
from .context import Settings


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


for command in (*cluster.COMMANDS, *objects.COMMANDS, demo.demo):
    pdc.add_command(command)


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong use, 3 cluster not reachable, 4 timed out, 130 interrupted."""
    log.set_up(settings.value("log_level"), as_json=settings.value("log_format") == "json")
    try:
        sys.exit(pdc.main(standalone_mode=False) or 0)
    except click.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
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
