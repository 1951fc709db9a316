#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All hosts are on one clock, whatever theirs say: real traces of two hosts, of which one is given a
# clock that is wrong by 5 ms, drifts by 50 ppm and jumps. The truth is known, for both hosts are in
# fact one machine with one clock.
. "$(dirname "$0")/scenario.sh"
plan 24
fresh_directory
shift_clock=${top_builddir:?set by contrib/run-tests.sh}/shift_clock

# order FILE...: what message_order.py says of it
order() {
    "$SP_PYTHON" "$programs/message_order.py" "$@"
}

# exchange MPI LEAST MOST ARGUMENT...: the program runs with these. Where ranks wait for processors more
# than for messages, these tell little: it makes less than so many calls, or takes more than so many
# seconds, and runs again.
exchange() {
    local dump=$results/dump
    for _ in 1 2 3 4 5; do
        rm -rf ./scope-profile-*
        run srun -N2 -n2 --mpi="${launcher[$1]}" --scope-profile=mpi-calls,merge=off \
            ./neighbours "${@:4}"
        sp-dump scope-profile-*.0/*/rank-000000.sptrace >"$dump"
        (($(wc -l <"$dump") < $2)) || awk -v most="$3" 'END { exit $1 < most }' "$dump" || return 0
    done
}

for mpi in openmpi mpich; do
    rm -rf ./*
    "mpicc_$mpi" -o neighbours "$programs/neighbours.c"
    exchange "$mpi" 8000 20 4
    is "$status" 0 "$mpi: the program runs"
    in_work cp -r scope-profile-*.0 shifted
    in_work "$shift_clock" 5e6 50 -3e6 shifted/*/rank-000001.sptrace
    run sp-merge --clock=realtime scope-profile-*.0 -o truth.h5
    is "$status" 0 "$mpi: the traces merge by real-time clocks"
    like "$(order truth.h5)" "^0 of [0-9]{4}" "$mpi: and no message is over before it began"

    run sp-merge --clock=realtime shifted -o realtime.h5
    like "$(order realtime.h5)" "^[1-9][0-9]* of" "$mpi: with a wrong clock, messages are"
    run sp-merge -v shifted -o messages.h5
    is "$status" 0 "$mpi: the traces merge by their messages"
    like "$err" "clocks of 2 hosts: corrected by up to 5\\.[0-9] ms by [0-9]{3,} messages" \
        "$mpi: by how much is told"
    read -r late _ < <(order messages.h5)
    is "$late" 0 "$mpi: no message is over before it began"
    wrong=$(order messages.h5 truth.h5 | tail -n 1)
    diag "$mpi: clocks are wrong by up to $wrong us"
    passes "$mpi: no event is 20 us from where it was" awk "BEGIN { exit !($wrong < 20) }"
    is "$(python 'import h5py
file = h5py.File(sys.argv[1])
attributes = file["metadata"].attrs
print(*(attributes["scope_profile_clock" + name] for name in ("", "_violations_after")),
      attributes["scope_profile_clock_violations_before"] > 100,
      attributes["scope_profile_clock_messages"] > 1000,
      *file["scope_profile/hosts/ranks"])' messages.h5)" "messages 0 True True 1 1" \
        "$mpi: the file tells what was found"

    rm -rf ./scope-profile-* shifted ./*.h5
    exchange "$mpi" 3000 2 1500 persistent
    in_work cp -r scope-profile-*.0 shifted
    in_work "$shift_clock" 5e6 50 -3e6 shifted/*/rank-000001.sptrace
    run sp-merge --clock=realtime scope-profile-*.0 -o truth.h5
    is "$status" 0 "$mpi: a program with nothing but persistent requests"
    run sp-merge -v shifted -o messages.h5
    like "$err" "clocks of 2 hosts: corrected by up to 5\\.[0-9] ms by 6000 messages" \
        "$mpi: every message that MPI_Startall sent is matched"
    wrong=$(order messages.h5 truth.h5 | tail -n 1)
    diag "$mpi: clocks are wrong by up to $wrong us"
    passes "$mpi: no event is 20 us from where it was" awk "BEGIN { exit !($wrong < 20) }"
done
