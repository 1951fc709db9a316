# SPDX-License-Identifier: BSD-3-Clause
# What the scripts on made-up runs share: a directory of their own, results as TAP. To be sourced.
# shellcheck shell=bash
set -uo pipefail

if [[ ${1-} == --help ]]; then
    echo "usage: ${0##*/}    (top_builddir and top_srcdir tell where programs and files are)"
    exit 0
fi

# shellcheck disable=SC2034 # for the scripts
bin=$(cd "${top_builddir:-.}" && pwd) source=$(cd "${top_srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

count=0
failed=0

# ok NAME COMMAND...: one test; what the command printed, or the last one of exits, is shown when it
# fails.
ok() {
    local name=$1
    shift
    count=$((count + 1))
    if "$@" >"$work/.out" 2>&1; then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' "$work/.out" "$work/.stdout" "$work/.stderr" 2>/dev/null
    fi
}

# exits STATUS COMMAND...: the command, or function, ends like that; what it prints is kept in .stdout
# and .stderr.
exits() {
    local expected=$1 status=0
    shift
    declare -F "$1" >/dev/null || set -- timeout 60 "$@"
    "$@" >"$work/.stdout" 2>"$work/.stderr" || status=$?
    [ "$status" = "$expected" ] || {
        echo "exit status $status instead of $expected"
        return 1
    }
}

# done_testing: the plan, and the verdict
done_testing() {
    echo "1..$count"
    exit "$((failed > 0))"
}
