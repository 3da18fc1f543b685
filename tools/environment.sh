#!/bin/sh
# environment.sh core|dev: brings .venv to what requirements/<name>.lock says, with PaddleCloud itself in it.
# The key of what is installed is written last, so whatever was interrupted is done again, and what is
# there already costs a few milliseconds. `dev` holds all of `core`.
set -eu
cd "$(dirname "$0")/.."
wanted=$1
venv=.venv
here=$(pwd)

main() {
    if up_to_date "$wanted" || { [ "$wanted" = core ] && up_to_date dev; }; then
        return
    fi
    trust_the_machine python3
    whole || make_environment
    rm -f "$venv/installed-core" "$venv/installed-dev"
    step "installing requirements/$wanted.lock" pip_of_uv sync --compile-bytecode "requirements/$wanted.lock"
    step "installing PaddleCloud itself" pip_of_uv install --no-deps --editable .
    key "$wanted" >"$venv/installed-$wanted"
}

up_to_date() {
    [ "$(cat "$venv/installed-$1" 2>/dev/null)" = "$(key "$1")" ] && fitting
}

key() {
    cat "requirements/$1.lock" pyproject.toml tools/environment.sh | cksum
}

# An environment without a key is one whose making was interrupted: what is missing in it nobody knows.
whole() {
    ls "$venv"/installed-* >/dev/null 2>&1 && [ -x "$venv/bin/uv" ] && fitting
}

# Made in this very folder, because scripts in it name their interpreter; with $PYTHON, where one is asked for.
fitting() {
    [ "$(sed -n 1p "$venv/made" 2>/dev/null)" = "$here" ] &&
        { [ -z "${PYTHON:-}" ] || [ "$(sed -n 2p "$venv/made")" = "$PYTHON" ]; } &&
        "$venv/bin/python" -c '' 2>/dev/null
}

make_environment() {
    python=$(tools/find-python.sh)
    echo "making $venv with $python"
    rm -rf "$venv"
    # Whatever way uv comes, it ends up as .venv/bin/uv: from there on all ways are one.
    with_uv_on_path || with_ensurepip || with_pip_elsewhere || {
        rm -rf "$venv"
        echo "could not make $venv: $python has neither venv with ensurepip nor pip, and uv is not on PATH" >&2
        echo "  → install one of them (Debian, Ubuntu: apt install python3-venv) and run make again" >&2
        exit 1
    }
    printf '%s\n%s\n' "$here" "${PYTHON:-}" >"$venv/made"
}

with_uv_on_path() {
    uv --version >/dev/null 2>&1 &&
        uv venv --quiet --python "$python" "$venv" &&
        uv_requirement | uv pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps -r -
}

with_ensurepip() {
    rm -rf "$venv"
    "$python" -c 'import venv, ensurepip' 2>/dev/null &&
        "$python" -m venv "$venv" >/dev/null 2>&1 &&
        uv_requirement >"$venv/uv.lock" &&
        "$venv/bin/python" -m pip install --quiet --require-hashes --no-deps -r "$venv/uv.lock"
}

# Debian without python3-venv: an environment can be made, only nothing can be put into it from inside.
with_pip_elsewhere() {
    rm -rf "$venv"
    "$python" -m pip --version >/dev/null 2>&1 &&
        "$python" -m venv --without-pip "$venv" &&
        uv_requirement >"$venv/uv.lock" &&
        "$python" -m pip install --quiet --require-hashes --no-deps -r "$venv/uv.lock" --target "$venv/bootstrap" &&
        cp "$venv/bootstrap/bin/uv" "$venv/bin/uv" && rm -rf "$venv/bootstrap"
}

# uv as locked, with its hashes.
uv_requirement() {
    awk '/^uv==/ {on = 1} on {print} on && !/\\$/ {exit}' requirements/core.lock
}

pip_of_uv() {
    verb=$1
    shift
    "$venv/bin/uv" pip "$verb" --quiet --python "$venv/bin/python" "$@"
}

# pip's mirror and the machine's certificates serve uv as well, unless uv has been told otherwise.
trust_the_machine() {
    if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
        mirror=${PIP_INDEX_URL:-$("$1" -m pip config get global.index-url 2>/dev/null || true)}
        [ -z "$mirror" ] || export UV_DEFAULT_INDEX="$mirror"
    fi
    if [ -z "${SSL_CERT_FILE:-}" ] && [ -r /etc/ssl/certs/ca-certificates.crt ]; then
        export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
    fi
}

step() {
    name=$1
    shift
    echo "$name"
    "$@" || {
        echo "$name failed, see above" >&2
        echo "  → if the package index cannot be reached, set UV_DEFAULT_INDEX to a mirror; then run make again" >&2
        exit 1
    }
}

main
