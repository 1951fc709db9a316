# SPDX-License-Identifier: BSD-3-Clause
# TAP results and the mini cluster, for the scenarios. To be sourced.
#
# contrib/run-tests.sh sets: SP_TOP the source tree, SP_STAGE where scope-profile is installed,
# SP_CLUSTER the directory of the mini cluster, SP_PYTHON a Python that has scope_profiler.
# shellcheck shell=bash
: "${SP_TOP:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${SP_STAGE:?set by contrib/run-tests.sh}" "${SP_PYTHON:?set by contrib/run-tests.sh}"
: "${SP_CLUSTER:?set by contrib/run-tests.sh}"

tap_count=0

# --- TAP -----------------------------------------------------------------------------------------

# plan N: there will be N tests
plan() {
    echo "1..$1"
}

# diag TEXT: a remark beside the results
diag() {
    sed 's/^/# /' <<<"$*"
}

# ok STATUS NAME: passed if STATUS is 0
ok() {
    tap_count=$((tap_count + 1))
    if [[ $1 == 0 ]]; then
        echo "ok $tap_count - $2"
    else
        echo "not ok $tap_count - $2"
    fi
}

# is ACTUAL EXPECTED NAME
is() {
    if [[ $1 == "$2" ]]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        diag "got:      $1"
        diag "expected: $2"
    fi
}

# like ACTUAL REGEX NAME: the extended regular expression matches somewhere
like() {
    if [[ $1 =~ $2 ]]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        diag "got:            $1"
        diag "does not match: $2"
    fi
}

# unlike ACTUAL REGEX NAME
unlike() {
    if [[ ! $1 =~ $2 ]]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        diag "got:     $1"
        diag "matches: $2"
    fi
}

# skip NAME WHY: must be named in tests/skips-allowed, or CI fails
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# --- the cluster ---------------------------------------------------------------------------------

# as_user CMD...: on the login host as the ordinary user, in the user's home
as_user() {
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" -- "$@"
}

# srun_user DIR ARGUMENT...: srun as the ordinary user, in DIR
srun_user() {
    local directory=$1
    shift
    "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --chdir "$directory" -- srun "$@"
}

# --- programs and profiles -----------------------------------------------------------------------

# mpicc_openmpi ARGUMENT..., mpicc_mpich ARGUMENT...: the compilers of the two MPIs. GCC 12 takes
# MPICH's MPI_STATUSES_IGNORE for an array that is too short.
mpicc_openmpi() {
    mpicc.openmpi -g -O1 "$@"
}

mpicc_mpich() {
    mpicc.mpich -g -O1 -Wno-stringop-overflow "$@"
}

# regions FILE: "NAME CALLS" per region, summed over the ranks, sorted by name; the real reader's
regions() {
    "$SP_PYTHON" -c '
import sys
import scope_profiler
for region in sorted(scope_profiler.read_h5(sys.argv[1]).get_regions(), key=lambda r: r.name):
    print(region.name, region.num_calls)' "$1"
}
