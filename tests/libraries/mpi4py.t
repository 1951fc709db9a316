#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py's own tests end under the preload library as they do without it, test by test.
#
# contrib/run-tests.sh sets: SP_STAGE where scope-profile is installed, SP_MPI the directory in
# which it has put MPI libraries, mpi4py for one of them, and mpi4py's source packages.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
: "${SP_STAGE:?}" "${SP_MPI:?}"

work=$(mktemp -d "${TMPDIR:-/tmp}/sp-mpi4py-XXXXXX")
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # the suite's files
lengthy=(msgspec util_dtlib) # and make no call that others do not make
silent=(datatype pack address) # and send nothing: left out where ranks wait for processors
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# More ranks than processors.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

# ends_alike MPI VERSION RANKS EXCLUDED...: runs that version's suite, but for those modules, under
# $python and $mpiexec, twice
ends_alike() {
    local name="$1, $3 ranks" tests=$SP_MPI/mpi4py-$2/test ranks=$3 rank run
    local -a suite=("$mpiexec" -n "$ranks" "$python" "$top_srcdir/tests/libraries/run_suite.py"
        "$tests")
    local -a modules
    mapfile -t modules < <(cd "$tests" && printf '%s\n' test_*.py | sed 's/\.py$//' |
        grep -vxF -f <(printf 'test_%s\n' "${@:4}"))
    rm -rf "$work/run" && mkdir "$work/run" && cd "$work/run" || return

    timeout --kill-after=5 200 "${suite[@]}" plain "${modules[@]}" >plain.log 2>&1 </dev/null
    result $? "$name: the tests run"
    timeout --kill-after=5 200 "$SP_STAGE/bin/sp-run" mpi-calls -- \
        "${suite[@]}" profiled "${modules[@]}" >profiled.log 2>&1 </dev/null
    result $? "$name: the tests run under the preload library"
    for ((rank = 0; rank < ranks; rank++)); do
        [[ $(grep -c ^passed "plain.$rank") -gt 800 ]]
        result $? "$name: rank $rank: $(cut -d' ' -f1 "plain.$rank" | sort | uniq -c | xargs)"
        is "$(diff "plain.$rank" "profiled.$rank")" "" "$name: rank $rank: each ends as without us"
    done
    has "$(tail -n 1 profiled.log)" "scope-profile: " "$name: there is a profile"
    # So many different calls that labels tell less, and the traces are kept: none is missing, though.
    run=$(find . -maxdepth 1 -type d -name 'scope-profile-*')
    [[ -z $run ]] || "$SP_STAGE/bin/sp-merge" -f --labels=full --remove "$run" >>profiled.log 2>&1
    is "$(find . -name '*.sptrace')" "" "$name: of all ranks, and complete"
    tail -n 3 profiled.log | sed 's/^/# /'
}

# Debian's. Now and then it hangs in spawning and in files of several ranks, also without us.
python=/usr/bin/python3 mpiexec=mpiexec.openmpi
for ranks in 1 2; do
    ends_alike "Open MPI 4.1" 3.1.4 "$ranks" spawn dynproc io "${lengthy[@]}"
done
ends_alike "Open MPI 4.1" 3.1.4 4 spawn dynproc io "${lengthy[@]}" "${silent[@]}"
python=$SP_MPI/mpich/bin/python mpiexec=$SP_MPI/mpich/bin/mpiexec
ends_alike "MPICH 5" 4.1.2 2 rma_nb cco_ngh_buf p2p_buf "${lengthy[@]}" "${silent[@]}"
done_testing
