#!/bin/sh
# Makes a virtual environment and installs Discreet into it, pinned by constraints.txt.
# usage: tools/venv.sh FOLDER PYTHON demo|all      (demo: core and plots; all: every extra, the tools, and Java)
set -eu
venv=$1 wanted=$2 what=$3

enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    if enough "python$wanted"; then
        echo "python$wanted"
    elif enough python3; then
        echo "python$wanted is not here; using $(python3 --version)" >&2
        echo python3
    else
        echo "Discreet needs Python 3.11 or newer, and there is neither python$wanted nor such a python3." >&2
        echo "Fix: install Python 3.11, or name the one you have: make PY=3.13 ..." >&2
        exit 1
    fi
}

# Some systems ship Python without ensurepip. Then pip fills an empty environment from outside,
# or the system's package is installed where that is permitted, or we say what to do.
make_venv() {
    "$python" -m venv "$venv" >/dev/null 2>&1 && return
    rm -rf "$venv"
    if "$python" -m venv --without-pip "$venv" 2>/dev/null &&
        "$python" -m pip --python "$venv/bin/python" install --quiet pip 2>/dev/null; then
        return
    fi
    rm -rf "$venv"
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing python$version-venv" >&2
        apt-get update -qq || true
        apt-get install -y -qq "python$version-venv" >/dev/null || apt-get install -y -qq python3-venv >/dev/null
        "$python" -m venv "$venv" && return
    fi
    echo "Python $version has no venv module, so no environment can be made." >&2
    echo "Fix: sudo apt-get install python$version-venv   (or your system's package of that kind)" >&2
    exit 1
}

# An environment whose making was interrupted has no pip, and is made again.
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    rm -rf "$venv"
    echo "making $venv with $("$python" --version)"
    make_venv
fi

install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint constraints.txt --build-constraint constraints.txt "$@"
}

# Spark runs on Java 17 or newer; its tests say so and fail where there is none and we may not install it.
ensure_java() {
    version=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1) || true
    [ "${version:-0}" -ge 17 ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing Java 17 for Spark" >&2
        apt-get update -qq || true
        apt-get install -y -qq openjdk-17-jre-headless >/dev/null && return
    fi
    echo "There is no Java 17, on which Spark runs, and it cannot be installed from here." >&2
    echo "Fix: sudo apt-get install openjdk-17-jre-headless   (or your system's package of that kind)" >&2
    exit 1
}

echo "installing into $venv ($what)"
# The environment's first pip may be too old for --build-constraint and for dependency groups.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
case $what in
demo) install --editable '.[plot]' ;;
all)
    ensure_java
    install --editable '.[all]' --group dev
    touch "$venv/.ready-demo" # all includes what the demonstration needs
    ;;
*)
    echo "usage: tools/venv.sh FOLDER PYTHON demo|all" >&2
    exit 2
    ;;
esac
touch "$venv/.ready-$what"
