#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages tell the options, words and keys that there are, no more and no fewer.
set -uo pipefail

case ${1-} in
--help)
    echo "usage: man.t    (top_builddir and top_srcdir tell where programs and pages are)"
    exit 0
    ;;
esac

bin=$(cd "${top_builddir:-.}" && pwd)
source=$(cd "${top_srcdir:-.}" && pwd)
man=$source/man
count=0
failed=0

# same NAME FROM_CODE FROM_PAGE: the two lists, one item a line, are the same and not empty
same() {
    count=$((count + 1))
    if [[ -n $2 ]] && diff <(sort -u <<<"$2") <(sort -u <<<"$3") >/dev/null; then
        echo "ok $count - $1"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $count - $1"
    diff --label 'what there is' --label 'the page' -U0 <(sort -u <<<"$2") <(sort -u <<<"$3") |
        sed 's/^/# /'
}

# told OPTIONS: the long ones in the list that argp prints
told() {
    grep -oE '^ +(-., )?--[a-z-]+' <<<"$1" | grep -oE -e '--[a-z-]+'
}

# items PAGE: what its lists define, as it is printed
items() {
    sed -n 's/^\.It Cm //p' "$1" | sed 's/ Ns Ar //; s/ $//'
}

for tool in sp-dump sp-merge sp-report sp-run; do
    same "$tool: the options" "$(told "$("$bin/$tool" --help)")" \
        "$(grep '^\.It Fl' "$man/$tool.1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -/--/')"
done

same "the words of WHAT and the kinds of calls" \
    "$("$bin/sp-run" help | sed -nE 's/^ {2,5}([a-z][a-zA-Z=+-]*) .*/\1/p')" \
    "$(items "$man/scope-profile.1")"

same "the keys of plugstack.conf" \
    "$(sed -nE 's/^ +\{"([a-z-]+)", .*\},$/\1/p' "$source/spank/settings.c")" \
    "$(items "$man/scope_profile.8" | cut -d= -f1)"

for page in "$man"/*.[178]; do
    same "${page##*/}: the foot names the project and its version" \
        "scope-profile $("$bin/sp-run" --version | sed 's/.* //')" \
        "$(sed -n 's/^\.Os *//p' "$page")"
done

# Ql quotes to the end of its line, and In is the macro of <stdio.h>; mandoc finds nothing to say.
for page in "$man"/*.[178]; do
    count=$((count + 1))
    name="${page##*/}: words that are no macros, and quotes that end"
    if ! said=$(grep -nE -e '\bQl [^ ].* (No|Ql|Pa|Cm|Xr|Ar|Fl) ' -e '^\.It In ' "$page"); then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' <<<"$said"
    fi
done

for page in "$man"/*.[178]; do
    name="${page##*/}: no warnings"
    count=$((count + 1))
    if ! command -v mandoc >/dev/null; then
        echo "ok $count - $name # SKIP no mandoc"
    elif said=$(mandoc -Tlint -Wwarning "$page" 2>&1); then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' <<<"$said"
    fi
done

echo "1..$count"
exit "$((failed > 0))"
