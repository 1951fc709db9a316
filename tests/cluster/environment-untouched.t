#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A step without --scope-profile has the environment that it has without the plugin, byte for byte.
. "$(dirname "$0")/scenario.sh"
plan 9
fresh_directory
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT

# environments NAME OPTION...: writes the environment of each task to NAME.TASK
environments() {
    in_work env LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libm.so.6: \
        "STRANGE=a  b"$'\n'"\$c %d" srun -N2 -n4 "${@:2}" --output="$1.%t" env -0
}

# Values that Slurm itself changes from step to step: the names that differ in three steps without
# the plugin. Prints MASKED for them, all else as it is and in its order.
cat >"$results/mask.py" <<'PYTHON'
import sys
first, *more, masked = [open(path, "rb").read().split(b"\0") for path in sys.argv[1:]]
steps = [dict(e.partition(b"=")[::2] for e in step if e) for step in (first, *more)]
changing = {name for step in steps for name in step if step[name] != steps[0].get(name)}
out = sys.stdout.buffer
for entry in masked:
    name = entry.partition(b"=")[0]
    out.write(name + b"=MASKED\0" if name in changing else entry + b"\0")
PYTHON

allowed="PMIX_DSTORE_21_BASE_PATH PMIX_DSTORE_ESH_BASE_PATH PMIX_NAMESPACE PMIX_SERVER_TMPDIR
PMIX_SERVER_URI2 PMIX_SERVER_URI21 PMIX_SERVER_URI3 PMIX_SERVER_URI4 PMIX_SERVER_URI41 PMI_JOBID
SLURM_JOBID SLURM_JOB_ID SLURM_PMIXP_ABORT_AGENT_PORT SLURM_SRUN_COMM_PORT SLURM_STEP_LAUNCHER_PORT
SLURM_TASK_PID"

for mpi in none pmix pmi2; do
    : >"$plugstack"
    for step in a b c; do
        environments "$step" --mpi="$mpi"
    done
    cat "$results/plugstack.conf" >"$plugstack"
    environments with --mpi="$mpi"
    : >"$results/without"
    : >"$results/with"
    for task in 0 1 2 3; do
        "$SP_PYTHON" "$results/mask.py" {a,b,c}."$task" a."$task" >>"$results/without"
        "$SP_PYTHON" "$results/mask.py" {a,b,c}."$task" with."$task" >>"$results/with"
    done
    passes "--mpi=$mpi: the same bytes in the same order" cmp "$results/without" "$results/with"
    is "$(tr '\0' '\n' <"$results/with" | grep -c '^LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libm.so.6:$')" \
        4 "--mpi=$mpi: the user's own LD_PRELOAD is in what was compared"
    is "$(tr '\0' '\n' <"$results/with" | sed -n 's/=MASKED$//p' | LC_ALL=C sort -u |
        grep -vxF -f <(xargs -n1 <<<"$allowed"))" "" \
        "--mpi=$mpi: only ids, ports and addresses of the step were left out"
done
