# SPDX-License-Identifier: BSD-3-Clause
# The steps that quickstart.sh and run-tests.sh share: headings, building, a Python, a cluster.
# To be sourced. Sets `top` (the source tree); the caller sets `build` and the number of steps.
# shellcheck shell=bash
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$top/contrib/packages.sh"

umask 022
export LC_ALL=C.UTF-8
# No caller's settings may change what is built, nor which user packages Python sees.
unset SLURM_CONF CFLAGS LDFLAGS CPPFLAGS LD_PRELOAD PYTHONPATH PYTHONHOME
# Packages of the system come first: another Python in PATH has no h5py.
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# The version that the tests were written against.
readonly scope_profiler_version=0.7.5

step_number=0
step_total=0

# heading TEXT: a new step begins
heading() {
    step_number=$((step_number + 1))
    printf '\n=== [%d/%d] %s (after %d s)\n' "$step_number" "$step_total" "$1" "$SECONDS"
}

# show CMD...: print the command as one would type it, then run it
show() {
    printf '$ %s\n' "$*"
    "$@"
}

# quietly LOG CMD...: output goes to LOG; its end is shown when CMD fails
quietly() {
    local log=$1 status=0
    shift
    printf '$ %s\n' "$*"
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || status=$?
    if ((status != 0)); then
        printf '    failed with status %d\n' "$status"
        errors_in "$log"
    fi
    return "$status"
}

# errors_in LOG: what make and compilers complained about, for -j scatters it, and the end
errors_in() {
    printf '    from %s:\n' "$1"
    {
        grep -aE '(error|Error|ERROR|\*\*\*)' "$1" | head -n 20
        echo ...
        tail -n 30 "$1"
    } | sed 's/^/    /'
}

# open_to_all DIR: true if every directory from / down to DIR (or to its nearest existing parent)
# lets everyone in
open_to_all() {
    local directory=$1 mode
    while true; do
        if [[ -e $directory ]]; then
            mode=$(stat --format=%a "$directory")
            ((8#$mode & 1)) || return 1
        fi
        [[ $directory != / ]] || return 0
        directory=$(dirname "$directory")
    done
}

# choose_build [DIR]: sets build. Jobs run as an ordinary user, who must be able to read it.
choose_build() {
    if [[ -n ${1:-} ]]; then
        build=$(readlink -m -- "$1")
        open_to_all "$build" || {
            echo "${0##*/}: --build $build: the ordinary user of the cluster cannot enter it" >&2
            return 1
        }
    elif open_to_all "$top/build"; then
        build=$top/build
    else
        build=/tmp/scope-profile-build
        echo "$top is closed to ordinary users, as whom jobs run: building in $build"
    fi
    mkdir -p "$build"
}

# need_root: what this needs and why
need_root() {
    ((EUID == 0)) && return 0
    echo "${0##*/}: run this as root: it installs packages and starts a Slurm of its own" >&2
    return 1
}

# build_and_stage: $build/native is configured and built, $build/stage installed
build_and_stage() {
    if [[ ! -x $top/configure || $top/configure -ot $top/configure.ac ]]; then
        (cd "$top" && quietly "$build/logs/autoreconf.log" autoreconf --install) || return
    fi
    mkdir -p "$build/native" && cd "$build/native" || return
    quietly "$build/logs/configure.log" "$top/configure" --enable-werror \
        --prefix="$build/stage" || return
    sed -n '/^configure:$/,$ { /^configure:$/d; /^ *$/d; p }' "$build/logs/configure.log"
    quietly "$build/logs/make.log" make -j"$(nproc)" || return
    # What an older install left is not to be tested.
    rm -rf "$build/stage"
    quietly "$build/logs/install.log" make install || return
    cd "$top" || return
    echo "installed below $build/stage"
}

# make_python: $build/python is a virtual environment with the real reader of profile files, and with
# pandas, which its to_dataframe() needs but which it does not ask for
make_python() {
    local python=$build/python/bin/python
    if ! "$python" -c 'import h5py, pandas, scope_profiler' 2>/dev/null; then
        rm -rf "$build/python"
        quietly "$build/logs/venv.log" /usr/bin/python3 -m venv --system-site-packages \
            "$build/python" || return
        quietly "$build/logs/pip.log" "$python" -m pip install --quiet \
            --disable-pip-version-check "scope-profiler==$scope_profiler_version" pandas || return
    fi
    printf 'scope-profiler %s\n' "$("$python" -c \
        'import importlib.metadata as m; print(m.version("scope-profiler"))')"
}

# plugstack_line: what an administrator would put into plugstack.conf
plugstack_line() {
    echo "optional $build/stage/lib/slurm/scope_profile.so"
}
