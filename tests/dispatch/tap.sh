#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What TAP scripts share: numbered results, and running a program of the machine we build for.
#
# In a cross build programs run under qemu's user emulation. host_cpu, build_cpu, top_srcdir and
# top_builddir come from make check.
set -u
export LC_ALL=C
top_srcdir=${top_srcdir:?make check sets it} top_builddir=${top_builddir:?make check sets it}

if [[ ${1:-} == --help ]]; then
    echo "tap.sh is sourced by the scripts that make check runs"
    exit 0
fi

count=0

# result STATUS NAME: passed if STATUS is 0
result() {
    count=$((count + 1))
    if (($1 == 0)); then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
    fi
}

# is ACTUAL EXPECTED NAME
is() {
    [[ $1 == "$2" ]]
    result $? "$3"
    [[ $1 == "$2" ]] || { printf 'got:\n%s\nexpected:\n%s\n' "$1" "$2" | sed 's/^/# /'; }
}

# has TEXT PART NAME
has() {
    [[ $1 == *"$2"* ]]
    result $? "$3"
    [[ $1 == *"$2"* ]] || { printf 'got:\n%s\nwhich lacks:\n%s\n' "$1" "$2" | sed 's/^/# /'; }
}

# done_testing: the plan, at the end
done_testing() {
    echo "1..$count"
    exit 0 # the results above are the verdict
}

# run [NAME=VALUE]... PROGRAM [ARGUMENT]...: the variables are set for the program alone
run() {
    local -a variables=()
    while [[ $1 == [A-Z_]*=* ]]; do
        variables+=("$1")
        shift
    done
    if [[ ${host_cpu:-} == "${build_cpu:-}" ]]; then
        env "${variables[@]}" "$@"
        return
    fi
    # The emulator itself must not see what is for the loader; its own option takes commas for more.
    local -a options=(-L "${QEMU_LD_PREFIX:-/usr/$host_cpu-linux-gnu}") others=()
    local variable
    for variable in "${variables[@]}"; do
        if [[ $variable == LD_* ]]; then
            options+=(-E "$variable")
        else
            others+=("$variable")
        fi
    done
    env "${others[@]}" "qemu-$host_cpu" "${options[@]}" "$@"
}
