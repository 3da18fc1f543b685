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
    # A function needs the SDK of Kubeflow Pipelines where it runs, and none of what the SDK needs to compile.
    case "$wanted" in suites/kfp/*) alone=--no-deps ;; *) alone= ;; esac
    [ ! -e "$wanted" ] || compile "$wanted" $alone --output-file "${wanted%.in}.lock"
done
