#!/bin/sh
# Runs the contracts against a real Kubernetes, built first if need be: those of the API against its server,
# those of nodes against its kubelet (root, and the packages of a Debian); then what needs its kubectl and
# client-go against our own server, which `make test` skips on a machine without them.
# FULL=1 also builds the other clients that must be served, CoreDNS for the names of the real node, Volcano for jobs
# that start as a whole, Knative for services, and the images of the suites that train
# (tests/kubernetes/build_extras.py has the table);
# without it they take part if they have been built before.
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
.venv/bin/python -m tests.kubernetes.build_extras ${FULL:+--build}
# A real node: a minute to fetch once; its contracts skip themselves where there can be none.
.venv/bin/python -m tests.kubernetes.node_parts || echo "left out: the contracts of nodes on a real kubelet"

# What runs on the real node mostly waits for it: it does so beside everything else, and is told at the end.
told=$(mktemp)
.venv/bin/python -m tests.again --real-kubernetes tests/contracts/test_contract_node*.py tests/kubernetes "$@" >"$told" 2>&1 &
nodes=$!
trap 'kill "$nodes" 2>/dev/null || true; rm -f "$told"' EXIT
.venv/bin/python -m tests.again --real-kubernetes --ignore-glob='*/test_contract_node*' tests/contracts tests/cluster tests/controllers \
    tests/clients "$@" || code=$?
.venv/bin/python -m tests.again -m kubectl --every-kubectl tests/contracts tests/clients "$@" || code=$?
wait "$nodes" || code=$?
cat "$told"
exit "$code"
