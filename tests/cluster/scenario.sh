# SPDX-License-Identifier: BSD-3-Clause
# What the scenarios share: a fresh directory of the ordinary user, and what a command there did.
# shellcheck shell=bash
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034 # for the scenarios
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/programs" && pwd)
PATH=$SP_STAGE/bin:$(dirname "$SP_PYTHON"):$PATH

# Makes $work, the ordinary user's, and goes there; it is removed at the end.
fresh_directory() {
    work=$(as_user mktemp -d "$SP_CLUSTER/home/scenario.XXXXXX")
    results=$(mktemp -d)
    trap 'cd /; rm -rf "$work" "$results"' EXIT
    cd "$work" || exit
}

# in_work CMD...: runs CMD as the ordinary user in $work.
in_work() {
    as_user env --chdir="$work" "$@"
}

# run CMD...: the same, and leaves what it did in $status, $out and $err. What hangs is ended, with
# status 124.
# shellcheck disable=SC2034 # for the scenarios
run() {
    status=0
    in_work timeout --kill-after=5 60 "$@" >"$results/out" 2>"$results/err" </dev/null || status=$?
    out=$(tr -d '\0' <"$results/out") err=$(tr -d '\0' <"$results/err")
}

# site WORD...: these stand behind the plugin in plugstack.conf, of which $results has a copy
plugstack=$SP_CLUSTER/plugstack.conf
site() {
    sed "/scope_profile\.so/s|\$| $*|" "$results/plugstack.conf" >"$plugstack"
}

# submit [OPTION...] -- LINE...: submits a batch script of the lines of prelude and these, for four
# tasks on two nodes; its job is $job
prelude=()
submit() {
    local -a options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    printf '%s\n' '#!/bin/bash' "${prelude[@]}" "$@" >"$results/job.sh"
    chmod 755 "$results" "$results/job.sh"
    run sbatch --parsable --nodes=2 --ntasks=4 --output=job.out "${options[@]}" "$results/job.sh"
    # shellcheck disable=SC2034 # scenarios use it
    job=${out%%$'\n'*}
}

# await CMD...: until CMD (as whoever runs the scenario) succeeds, 30 s at most
await() {
    local round
    for ((round = 0; round < 300; round++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}

# passes NAME CMD...: one test, of the exit status of CMD (as whoever runs the scenario).
passes() {
    local name=$1 said status=0
    shift
    said=$("$@" 2>&1) || status=$?
    ((status == 0)) || diag "$said"
    ok "$status" "$name"
}

# listing DIR: what is there, hidden or not, on one line.
listing() {
    (cd "$1" && find . -mindepth 1 -maxdepth 1 -printf '%P\n' | LC_ALL=C sort | xargs)
}

# python CODE ARGUMENT...: runs CODE with the real reader of profile files.
python() {
    "$SP_PYTHON" -c "import json, sys, scope_profiler; $1" "${@:2}"
}

# mpi_calls FILE: the number of MPI calls in a profile, as people write it. A run of polls is one
# event, its number of calls stands in a table.
mpi_calls() {
    python 'import h5py
with h5py.File(sys.argv[1]) as file:
    polls = sum(file["scope_profile/polls/counts"]) if "scope_profile/polls" in file else 0
print(format(int(polls) + sum(r.num_calls for r in scope_profiler.read_h5(sys.argv[1]).get_regions()
        if r.name.startswith("mpi:") and " kind=poll " not in r.name), ","))' "$1"
}

# What srun starts the ranks of each MPI with.
# shellcheck disable=SC2034 # for the scenarios
declare -A launcher=([openmpi]=pmix [mpich]=pmi2)

# build_conformance MPI: the program conformance.
build_conformance() {
    local groups=(point_to_point completion collectives one_sided io communicators errors callbacks
        local_queries mpi4)
    local sources=("${groups[@]/#/$programs/}")
    (cd "$results" && "mpicc.$1" -g -Wno-stringop-overflow -c "$programs/conformance.c" \
        "${sources[@]/%/.c}") &&
        "mpicxx.$1" -g -o conformance "$programs/unwinding.cc" "$results"/*.o
}

# agrees FILE: FILE has exactly the calls that the program counted, rank by rank (tally.h).
agrees() {
    "$SP_PYTHON" "$programs/compare_tally.py" "$1" "${2:-.}"
}

# ends_in FILE: how its ranks ended, as FILE tells.
ends_in() {
    sp-report --json "$1" | sed -n 's/.*"scope_profile_ends": *"\(.*\)",$/\1/p'
}
