#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The mini cluster itself: several at once, what run hands through, and nothing is left behind
# after down, Ctrl-C, a killed up or a failed start. One host where namespaces are not allowed.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
plan 39

base=$(mktemp -d /tmp/scope-mini.XXXXXX)
chmod 755 "$base"
one=$base/one two=$base/two
# A user of our own, so that other clusters on this machine do not keep it alive.
user=scopemini$$
mini_cluster=$SP_TOP/contrib/mini-cluster

clean_up() {
    "$mini_cluster" down --dir "$one" >"$base/down.out" 2>&1
    "$mini_cluster" down --dir "$two" >"$base/down.out" 2>&1
    rm -rf "$base"
}
trap clean_up EXIT

up() {
    "$mini_cluster" up --user "$user" --dir "$@"
}

# machine: what a cluster must leave as it found it, for other clusters come and go meanwhile
machine() {
    ip -o link | cut -d: -f2 | LC_ALL=C sort
    ip netns list
    cat /etc/hosts
}

# left: what is there of our clusters: processes (by mounts, environment, command), mounts, files
left() {
    local file
    for file in /proc/[0-9]*/mountinfo /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do
        [[ $file == /proc/$$/* ]] || grep -lsaE "$one|$two" "$file"
    done
    grep -E "$one|$two" /proc/mounts
    ls -d "$one" "$two"
    getent passwd "$user"
} 2>/dev/null

before=$(machine)

# nothing_left AFTER: two tests
nothing_left() {
    is "$(left)" "" "$1: no process, mount, file or user is left"
    is "$(machine)" "$before" "$1: interfaces, namespaces and /etc/hosts are as before"
}

# wait_for FILE PID: until FILE is there, or the process has gone
wait_for() {
    while [[ ! -e $1 && -d /proc/$2 ]]; do
        sleep 0.02
    done
}

# --- two at once ---------------------------------------------------------------------------------
up "$one" >"$base/one.out" 2>&1 &
first=$!
up "$two" >"$base/two.out" 2>&1
ok $? "a cluster starts"
wait "$first"
ok $? "a second one starts at the same time"
is "$("$mini_cluster" run --dir "$one" srun -N2 hostname | sort | xargs)" "node1 node2" \
    "the first runs a step on two hosts"
is "$("$mini_cluster" run --dir "$two" srun -N2 hostname | sort | xargs)" "node1 node2" \
    "so does the second"
"$mini_cluster" status --dir "$one" >"$base/status.out"
ok $? "status: it runs"
up "$one" >"$base/again.out" 2>&1
is $? 1 "up where one runs is refused"

# --- run -----------------------------------------------------------------------------------------
"$mini_cluster" run --dir "$one" bash -c 'exit 37'
is $? 37 "run: the exit status is the command's"
is "$(printf 'a\nb\n' | "$mini_cluster" run --dir "$one" cat)" $'a\nb' \
    "run: standard input reaches the command"
is "$(printf 'c\n' | "$mini_cluster" run --dir "$one" srun cat)" c "run: and a step"
is "$("$mini_cluster" run --dir "$one" bash -c 'id -un; pwd; hostname' | xargs)" \
    "$user $one/home login" "run: as the ordinary user, at home, on the login host"
is "$("$mini_cluster" run --dir "$one" --root --node 2 bash -c 'id -un; hostname' | xargs)" \
    "root node2" "run --root --node 2"
clocks=$("$mini_cluster" run --dir "$one" srun -N2 -n2 \
    /usr/bin/python3 -c 'import time; print(int(time.monotonic()))' | sort -n | xargs)
if [[ -e $one/clock-offsets ]]; then
    read -r early late <<<"$clocks"
    ((late - early > 900 && late - early < 1100))
    ok $? "the hosts' monotonic clocks are 1000 s apart"
else
    skip "the hosts' monotonic clocks are 1000 s apart" "this kernel has no time namespaces"
fi

# ranks prints when each rank began to leave MPI, and when it had left.
ranks='import time
from mpi4py import MPI
rank = MPI.COMM_WORLD.Get_rank()
time.sleep(1 - rank)
begun = time.time()
MPI.Finalize()
print(begun, time.time())'
like "$("$mini_cluster" run --dir "$one" srun -N2 -n2 --mpi=pmix /usr/bin/python3 -c "$ranks" |
    awk '{ if ($1 > begun) begun = $1; if (!left || $2 < left) left = $2 }
        END { print NR, (begun < left) }')" '^2 1$' \
    "no rank leaves MPI before those of the other host want to"

# --- down ----------------------------------------------------------------------------------------
"$mini_cluster" run --dir "$one" srun -N2 bash -c 'setsid sleep 1000 >/dev/null 2>&1 </dev/null &'
"$mini_cluster" down --dir "$one" >"$base/down.out"
ok $? "down"
"$mini_cluster" status --dir "$two" >"$base/status.out"
ok $? "the other one still runs"
"$mini_cluster" down --dir "$two" >"$base/down.out"
nothing_left "down"
"$mini_cluster" down --dir "$two" >"$base/down.out"
ok $? "down of nothing is no error"

# --- Ctrl-C --------------------------------------------------------------------------------------
# interrupt SIGNAL FILE: start a cluster that never gets ready, and signal it when FILE is there
interrupt() {
    local status=0
    # Background commands of a script ignore SIGINT, and bash cannot undo that.
    env --default-signal=INT "$mini_cluster" up --user "$user" --dir "$one" \
        --conf-line 'DownNodes=node1 State=DOWN' >"$base/one.out" 2>&1 &
    wait_for "$one/$2" $!
    kill -s "$1" $!
    wait $! || status=$?
    echo "$status"
}

is "$(interrupt INT id)" 130 "Ctrl-C at the very start"
nothing_left "Ctrl-C at the very start"
is "$(interrupt INT run/login.keeper)" 130 "Ctrl-C while hosts are made"
is "$(interrupt INT run/slurmd-node2.pid)" 130 "Ctrl-C while waiting for the hosts"
nothing_left "Ctrl-C"

is "$(interrupt KILL run/slurmctld.pid)" 137 "up is killed"
"$mini_cluster" down --dir "$one" >"$base/down.out"
nothing_left "down after up was killed"

# --- a failed start ------------------------------------------------------------------------------
up "$one" --conf-line 'NoSuchWord=1' >"$base/one.out" 2>&1
is $? 1 "a wrong slurm.conf"
like "$(<"$base/one.out")" 'NoSuchWord' "the message shows why"
nothing_left "a failed start"

# --- where namespaces are not allowed ------------------------------------------------------------
# without CMD...: as root without the capability that namespaces need
without() {
    setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"
}

without "$mini_cluster" up --user "$user" --dir "$one" >"$base/one.out" 2>&1
is $? 1 "no namespaces: two hosts are refused"
like "$(<"$base/one.out")" 'mini-cluster up --hosts 1' "the message offers one host"
without "$mini_cluster" up --hosts 1 --user "$user" --dir "$one" >"$base/one.out" 2>&1
ok $? "no namespaces: one host starts"
is "$(without "$mini_cluster" run --dir "$one" srun -n2 id -un | xargs)" "$user $user" \
    "it runs a step"
without "$mini_cluster" run --dir "$one" srun bash -c 'setsid sleep 1000 >/dev/null 2>&1 </dev/null &'
without "$mini_cluster" down --dir "$one" >"$base/down.out"
ok $? "down"
nothing_left "no namespaces: down"
