#!/bin/sh
# Writes all lock files anew: exact versions and hashes for Python 3.11 and later, no index named.
set -eu
cd "$(dirname "$0")/.."

compile() {
    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url "$@"
}

compile pyproject.toml --output-file requirements/core.lock
compile pyproject.toml --extra dev -c requirements/core.lock --output-file requirements/dev.lock
for wanted in suites/*/requirements.in; do
    [ ! -e "$wanted" ] || compile "$wanted" --output-file "${wanted%.in}.lock"
done
