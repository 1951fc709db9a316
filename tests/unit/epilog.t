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
    [[ -e run.h5 ]] || printf 'job-end=1 cause=' >run/job-end # and the rest a little later
    sleep 0.7
    [[ -e run.h5 ]] || echo 'cancelled realtime=1' >>run/job-end
    wait $!
}
ok 'a task was killed: the epilog waits for the cause' exits 0 late_cause
ok 'and merges' merged
ok 'with it' tells_of_cancellation

# --- a node that is late --------------------------------------------------------------------------
# Its exit record and then its marker come when the epilog of this node has begun.
late_node() {
    fresh ends
    entered
    sed -i 's/^nodes=1/nodes=2/' "registry/$job.0"
    epilog &
    sleep 0.5
    if [[ ! -e run.h5 ]]; then
        echo 'exit=1 task=5 local=5 pid=105 status=0 realtime=1 monotonic=1 host=h' \
            >run/exit-node2
        : >run/done-node2
    fi
    wait $!
}
ok 'the other node has its exit records to write: the epilog waits for its marker' exits 0 late_node
ok 'and merges' merged
ok 'what came late' test -s run/exit-node2

# --- an entry of an older plugin ------------------------------------------------------------------
fresh plain
entered
ok 'an entry without component and spool' exits 0 epilog
ok 'is merged' merged
fresh plain
entered component=0 spool=
ok 'one with them' exits 0 epilog
ok 'is merged, too' merged

# --- what root starts asks no directory service ---------------------------------------------------
# imports_none NAME...: none of these is imported by what runs in slurmstepd and in the epilog
imports_none() {
    local file imported
    for file in "$bin/.libs/scope_profile.so" "$bin/sp-merge"; do
        imported=$(nm -D --undefined-only "$file") || return
        [[ $imported == *setresuid* ]] || return # another file than is meant
        ! grep -wE "$(tr ' ' '|' <<<"$*")" <<<"$imported" || return
    done
}
ok 'a dead directory service hangs neither slurmstepd nor an epilog' \
    imports_none initgroups getgrouplist getgrnam getgrgid getgrnam_r getgrgid_r getpwnam \
    getpwnam_r getpwuid_r getaddrinfo gethostbyname

done_testing
