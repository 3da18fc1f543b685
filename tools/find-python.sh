#!/bin/sh
# Prints the interpreter the environment is made with: $PYTHON if given, else the first fitting one on PATH.
# A name is not enough: version managers put names on PATH for versions that are not active. So each is run.
set -eu

fitting() {
    "$1" -c '
import sys
if not (3, 11) <= sys.version_info[:2] <= (3, 12):
    sys.exit(1)
# The interpreter behind an environment that may be active, perhaps the very one we are about to replace.
print(getattr(sys, "_base_executable", None) or sys.executable)
' 2>/dev/null
}

if [ -n "${PYTHON:-}" ]; then
    fitting "$PYTHON" && exit 0
    echo "PYTHON=$PYTHON does not run as Python 3.11 or 3.12: give the path of one that does" >&2
    exit 1
fi

for name in python3.12 python3.11 python3; do
    IFS=:
    for folder in $PATH; do
        [ -x "$folder/$name" ] && fitting "$folder/$name" && exit 0
    done
done

echo "no Python 3.11 or 3.12 was found on PATH: install one (Debian 12: apt install python3 python3-venv)," >&2
echo "or name it: make PYTHON=/path/to/python3.11" >&2
exit 1
