#!/bin/sh
# Runs the contracts against a real Kubernetes API server, built first if need be.
# A machine that cannot build it (no Go, too little disk) is no failure: the sentence says why it was skipped.
set -eu
cd "$(dirname "$0")/.."

code=0
.venv/bin/python -m tests.kubernetes.build || code=$?
if [ "$code" = 3 ]; then
    echo "make test-kubernetes: skipped"
    exit 0
fi
[ "$code" = 0 ] || exit "$code"
exec .venv/bin/pytest --real-kubernetes tests/contracts tests/kubernetes "$@"
