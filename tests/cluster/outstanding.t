#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank hangs in MPI_Waitall for a receive that nobody answers, and is killed: what it had
# outstanding is told while it hangs, and of the dead.
. "$(dirname "$0")/scenario.sh"
plan 22
fresh_directory
time='[0-9.]+ m?s'

# hangs MPI PROGRAM TOLD WAITED TABLE: the program hangs, is looked at, rank 0 is killed, and looked
# at again: what is told in words, what the JSON says is waited for, and the file's table
hangs() {
    local mpi=$1
    local name="$mpi, $2" escaped=${3//(/\\(}
    escaped=${escaped//)/\\)}
    rm -rf scope-profile-*
    in_work timeout --kill-after=5 120 srun -N2 -n4 --mpi="${launcher[$mpi]}" \
        --kill-on-bad-exit=1 --scope-profile=mpi-calls "./$2" >/dev/null 2>"$results/job_err" \
        </dev/null &
    local srun=$! look='' line="[^"$'\n'"]*"
    for _ in {1..300}; do
        look=$(in_work sp-dump --live 2>/dev/null)
        [[ $look == *"3 ranks (1-3) in mpi:barrier"* && $look == *"rank 0 in mpi:waitall"* ]] &&
            break
        sleep 0.2
    done
    like "$look" "     0  node1  in mpi:waitall for $time; outstanding: $escaped"$'\n' \
        "$name: --live tells what it waits for"
    is "$(in_work sp-dump --live --json | python '
rank = json.load(sys.stdin)["worlds"][0]["ranks"][0]
print([[row["operation"], row["peer"], row["tag"], row["comm"], row["bytes"], row["count"]]
       for row in rank["outstanding"] if row["waited"] and not row["completed"]])')" "$4" \
        "$name: so does its JSON"
    kill -KILL "$(sp-dump --header scope-profile-*/*/rank-000000.sptrace | sed -n 's/^pid *//p')"
    wait "$srun"
    run sp-dump --live
    like "$out" "     0  node1  killed by signal 9 $line, in mpi:waitall for $time; \
outstanding: $escaped"$'\n' \
        "$name: --live tells it of the dead rank"
    run sp-merge -v -f scope-profile-*.?
    like "$err" "rank 0: in mpi:waitall for $time when it was killed by signal 9 \(SIGKILL\)$line; \
outstanding: $escaped"$'\n' \
        "$name: sp-merge tells it"
    is "$(python 'import h5py
table = h5py.File(sys.argv[1])["scope_profile/outstanding"]
columns = [table[name][:].tolist() for name in
           ("ranks", "peers", "tags", "comms", "bytes", "counts", "waited", "completed")]
names = [name.decode() for name in table["operations"]]
print(sorted((row[0], name, *row[1:]) for name, row in zip(names, zip(*columns))))' \
        scope-profile-*.h5)" "$5" "$name: the file has the table"
}

nobody="irecv from 1 (tag 7), beside 2 that have completed"
nobody_row="[['irecv', 1, 7, 0, 4, 1]]"
for mpi in openmpi mpich; do
    "mpicc_$mpi" -Wno-stringop-overflow -o outstanding "$programs/outstanding.c"
    hangs "$mpi" outstanding "$nobody" "$nobody_row" \
        "[(0, 'irecv', 1, 7, 0, 4, 1, 1, 0), (0, 'irecv', 3, 11, 0, 4, 1, 0, 0), \
(0, 'isend', 1, 9, 0, 4, 2, 1, 1)]"
done
run sp-report scope-profile-*.h5
like "$out" "Requests +rank 0: in mpi:waitall for $time; outstanding: irecv from 1 \(tag 7\)," \
    "sp-report tells it"
run sp-dump scope-profile-*/*/rank-000000.sptrace
like "$out" "outstanding      irecv from 1 \(tag 7\), beside 2 that have completed" \
    "sp-dump of the trace, too"

# Which of them the call waits for is not known where a Fortran layer copies requests.
for mpi in openmpi mpich; do
    mpifort."$mpi" -o fortran "$programs/outstanding.F90"
    hangs "$mpi" fortran \
        "irecv from 1 (tag 7), irecv from 3 (tag 11), beside 2 that have completed" "[]" \
        "[(0, 'irecv', 1, 7, 0, 4, 1, 0, 0), (0, 'irecv', 3, 11, 0, 4, 1, 0, 0), \
(0, 'isend', 1, 9, 0, 4, 2, 0, 1)]"
done
