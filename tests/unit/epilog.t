#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The epilog on made-up runs: what it waits for and what of a registry it believes.
# shellcheck source-path=SCRIPTDIR source=made_up.sh
. "${top_srcdir:-.}/tests/unit/made_up.sh"

job=17
mkdir -m 700 registry

# entered [LINE...]: the registry has a step of the job whose run is "run", with these lines more
entered() {
    {
        printf '%s\n' 'scope-profile-step 1' "job=$job" step=0 nodes=1 "user=$(id -u)" \
            "group=$(id -g)" "groups=$(id -G | tr ' ' ,)" merge=epilog "run=$work/run" timeout=30 \
            wait=20 threads=1 detach=no mpirun=no "$@"
    } >"registry/$job.0"
}

epilog() {
    SLURM_JOB_ID=$job SLURM_JOB_UID=$(id -u) SLURMD_NODENAME=node1 \
        timeout 60 "$bin/sp-merge" --epilog --registry="$work/registry"
}

# fresh WHAT: a run that this node's daemon has marked done
fresh() {
    rm -rf run run*
    "$bin/make_traces" run "$1"
    : >run/done-node1
}

# killed AGO: a signal ended a task so many seconds ago
killed() {
    echo "exit=1 task=0 local=0 pid=1 status=15 realtime=$(($(date +%s) - $1))000000000" \
        'monotonic=1 host=h' >>run/exit-node1
}

merged() { [[ -s run.h5 && ! -e registry/$job.0 ]]; }

tells_of_cancellation() {
    "$bin/sp-report" --json run.h5 | grep -q 'scope_profile_ends.*job cancelled'
}

# --- why Slurm ended the job ----------------------------------------------------------------------
# srun asks when it has seen its tasks end, and tells some time after the epilog has begun.
late_cause() {
    fresh ends
    killed 0
    entered
    epilog &
    sleep 0.5
    [[ -e run.h5 ]] || echo 'job-end=1 cause=cancelled realtime=1' >run/job-end
    wait $!
}
ok 'a task was killed: the epilog waits for the cause' exits 0 late_cause
ok 'and merges' merged
ok 'with it' tells_of_cancellation

# --- an entry of an older plugin ------------------------------------------------------------------
fresh plain
entered
ok 'an entry without component and spool' exits 0 epilog
ok 'is merged' merged
fresh plain
entered component=0 spool=
ok 'one with them' exits 0 epilog
ok 'is merged, too' merged

done_testing
