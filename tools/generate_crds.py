"""Writes the CustomResourceDefinitions that follow from the classes in `paddlecloud.api`.

`deploy/crds/` has one a file, for any cluster, and holds exactly these files: what no class stands behind
is removed. The embedded server reads them all, and those of its stand-ins, from one file of its own: it
then starts without the classes.

    python tools/generate_crds.py            writes
    python tools/generate_crds.py --check    writes nothing; says what differs and exits with 1
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson
import yaml

from paddlecloud.api.crds import crd
from paddlecloud.api.kinds import EMBEDDED_ONLY, OURS
from paddlecloud.embedded.server.ourkinds import FILE

FOLDER = Path(__file__).parent.parent / "deploy" / "crds"
HEADER = "# Made by `make generate` from src/paddlecloud/api: change it there.\n"


def main(arguments: list[str]) -> int:
    stale = differences(FOLDER)
    if "--check" not in arguments:
        write(FOLDER)
        FILE.write_bytes(packed())
        return 0
    if not FILE.exists() or FILE.read_bytes() != packed():
        print(f"{FILE.name} does not follow from src/paddlecloud/api: run `make generate`", file=sys.stderr)
        return 1
    for name in stale:
        print(
            f"deploy/crds/{name} does not follow from src/paddlecloud/api: run `make generate`",
            file=sys.stderr,
        )
    return 1 if stale else 0


def wanted() -> dict[str, str]:
    """File name to text."""
    return {f"{kind.plural}.{kind.group()}.yaml": as_text(crd(kind)) for kind in OURS}


def packed() -> bytes:
    """All definitions, a line each, so that a change shows as one."""
    lines = b",\n".join(orjson.dumps(crd(kind)) for kind in (*OURS, *EMBEDDED_ONLY))
    return b"[\n" + lines + b"\n]\n"


def as_text(body: dict[str, object]) -> str:
    return HEADER + yaml.safe_dump(body, sort_keys=False, width=110, allow_unicode=True)


def present(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml"))}


def differences(folder: Path) -> list[str]:
    """The names of files that are missing, out of date or left over."""
    have, want = present(folder), wanted()
    return sorted(name for name in have.keys() | want.keys() if have.get(name) != want.get(name))


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    want = wanted()
    for name in present(folder).keys() - want.keys():
        (folder / name).unlink()
    for name, text in want.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
