# SPDX-License-Identifier: BSD-3-Clause
# Nodes of the test's cluster with the simulated processor, and what LIKWID counted there. To be
# sourced behind scenario.sh, in a fresh directory.
# shellcheck shell=bash disable=SC2154
# shellcheck source-path=SCRIPTDIR source=simulation.sh
. "$SP_TOP/tests/likwid/simulation.sh"

simulation=$work/simulation
gcc -O1 -o access_daemon "$SP_TOP/tests/likwid/access_daemon.c"
simulation_make "$simulation" access_daemon
daemon=$simulation/bin
# shellcheck disable=SC2034 # for the scenarios
bound=--cpu-bind=map_cpu:0,1

# on_nodes CMD...: on each host, as root
on_nodes() {
    local node
    for node in 1 2; do
        "$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --root --node "$node" -- "$@"
    done
}
on_nodes mount -t overlay overlay -o "lowerdir=$simulation/etc:/etc" /etc
trap 'cd /; on_nodes umount /etc; rm -rf "$work" "$results"' EXIT

# counted WHAT ARGUMENT...: runs srun with two ranks on each host, and the daemon in PATH; leaves
# what run does, the output sorted, and the profile's name in $file. also: variables
also=()
counted() {
    rm -rf scope-profile-*
    run env PATH="$daemon:$PATH" "${also[@]}" srun -N2 -n4 ${1:+"--scope-profile=$1"} "${@:2}"
    # shellcheck disable=SC2034 # for the scenarios
    out=$(sort <<<"$out") file=$(echo scope-profile-*.h5)
}

# events FILE: for each rank and region its CPUs, calls and counters, as the package reads them
events() {
    "$SP_PYTHON" -c '
import sys
import scope_profiler
results = scope_profiler.read_h5(sys.argv[1])
for rank in sorted(results.likwid_ranks):
    for tag, region in sorted(results.get_likwid_regions(rank).items()):
        print(rank, tag, region.source, region.group_name, *region.cpus, *region.call_counts,
              *(f"{n}={v:.0f}" for n, v in zip(region.event_labels, region.events[:, 0])))
' "$1"
}
