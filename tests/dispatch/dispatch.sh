#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the preload library must do between a program and an MPI library of one family: sourced with
# family=openmpi or family=mpich.

# A mount namespace of our own, for a file system on which traces are not mapped.
if [[ -z ${SP_OWN_MOUNTS:-} ]]; then
    as_root=()
    ((EUID == 0)) || as_root=(--map-root-user)
    SP_OWN_MOUNTS=1 exec unshare --mount "${as_root[@]}" "$0"
fi

# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
here=$top_builddir/tests/dispatch
programs=$here/${family:?}
preload=$top_builddir/.libs/libscope_preload.so

work=$(mktemp -d "${TMPDIR:-/tmp}/sp-dispatch-XXXXXX")
mkdir "$work/buffered"
trap 'umount "$work/buffered"; rm -rf "$work"' EXIT
mount -t ramfs none "$work/buffered" || echo "Bail out! no ramfs"
place=$work
run_number=0

# profiled [NAME=VALUE]... PROGRAM [ARGUMENT]...: runs it with a run directory of its own; what it
# prints goes to $output, its messages to $messages, and its exit status to $status
profiled() {
    run_number=$((run_number + 1))
    directory=$place/run-$run_number
    plainly LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$directory" "$@"
}

plainly() {
    output=$(run "$@" 2>"$work/messages")
    status=$?
    messages=$(<"$work/messages")
}

# list HOW: the only trace of the last run
list() {
    local -a traces=("$directory"/*/*.sptrace)
    [[ ${#traces[@]} == 1 && -e ${traces[0]} ]] || {
        echo "${#traces[@]} traces: ${traces[*]}"
        return
    }
    run "$top_builddir/trace_list" "$1" "${traces[0]}"
}

nothing_made() {
    [[ ! -e $directory ]]
    result $? "$1: nothing is made"
}

# recorded NAME [STATUS]: the last run ended well, and what it said it did is what was recorded
recorded() {
    is "$status$messages" "${2:-0}" "$1: ends as without us, and in silence"
    is "$(list counts)" "$output" "$1: each call is recorded once"
}

closed="phase 4 stopped 0 dropped 0"

# --- the limit of a file's size --------------------------------------------------------------------
# Who writes beyond it gets SIGXFSZ. Nothing of ours may, wherever the limit lies.
for limit in 0 1 8 100; do
    directory=$work/limit-$limit
    messages=$(
        ulimit -f "$limit"
        run LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$directory" "$programs/program" every 2>&1 >/dev/null
        echo "$?"
    )
    is "${messages##*$'\n'}" 0 "ulimit -f $limit: the program ends as without us"
    [[ $(wc -l <<<"$messages") -le 2 ]]
    result $? "ulimit -f $limit: in one line at most"
done

# --- arguments ------------------------------------------------------------------------------------
plainly "$programs/program" every
is "$status$messages" 0 "the stand-in serves without us"
profiled "$programs/program" every
is "$status$messages" 0 "arguments, results and errno of every function pass"
is "$(list counts)" "$(sort <<<"$output")" "every function that moves or waits is recorded, under both names"
profiled SCOPE_PROFILE_WHAT=mpi-calls=all "$programs/program" every_local
is "$(list counts)" "$(sort <<<"$output")" "and on request every function there is"
profiled "$programs/program_fixed" every
is "$(list counts)" "$(sort <<<"$output")" "and in a program at a fixed address"
plainly LD_PRELOAD="$preload" "$programs/program" registers
is "$status$messages" 0 "no register that carries an argument is changed"

# --- who calls ------------------------------------------------------------------------------------
for scenario in internal callback recursion longjmp plain threads fork; do
    profiled "$programs/program" "$scenario"
    recorded "$scenario"
done
profiled "$programs/program_fixed" plain
recorded "a program at a fixed address"

profiled "$programs/program" callback
is "$(list nesting | sort | uniq -c | tr -s ' ')" \
    " 6 0 allreduce
 1 0 finalize
 1 0 init
 15 1 send" "calls of a callback lie within the call it is called from"

profiled LD_PRELOAD="$preload:$programs/libtool.so" "$programs/program" callback
is "$(tail -n 1 <<<"$output")" "tool: 10 sends, 6 allreduces" "a tool behind us sees each call once"
is "$(list counts)" "$(grep -v tool: <<<"$output")" "and so do we"
profiled LD_PRELOAD="$programs/libtool.so:$preload" "$programs/program" callback
is "$(tail -n 1 <<<"$output")" "tool: 10 sends, 6 allreduces" "a tool before us sees each call once"
is "$(list counts)" "$(grep -v tool: <<<"$output")" "and so do we"

cp "$preload" "$work/copy.so"
for order in "$preload:$work/copy.so" "$work/copy.so:$preload"; do
    profiled LD_PRELOAD="$order" "$programs/program" callback
    recorded "two copies of the library"
done

# --- labels ---------------------------------------------------------------------------------------
profiled "$programs/program" requests
is "$(list labels | grep -v finalize | tail -n +2)" \
    "isend point-to-point 4 1 -1 40 0 -
isend point-to-point 8 1 -1 41 0 -
isend point-to-point 12 1 -1 42 0 -
isend point-to-point 16 1 -1 43 0 -
wait wait 16 1 -1 43 0 isend
wait wait 12 1 -1 42 0 isend
wait wait 8 1 -1 41 0 isend
wait wait 4 1 -1 40 0 isend
irecv point-to-point 24 -1 -1 -1 0 -
isend point-to-point 24 1 -1 50 0 -
waitall wait 48 -1 -1 -1 0 mixed resolved 1 10 40 0
recv point-to-point 36 -1 -1 9 0 - resolved 1 9 40
recv point-to-point 36 -1 -1 9 0 - resolved 1 9 40" \
    "requests with one handle are told apart, wildcards resolved"

profiled "$programs/program" wildcards
is "$(list labels | grep resolved)" \
    "wait wait 4 -1 -1 3 0 irecv resolved 1 9 40
test wait 4 1 -1 -1 0 irecv resolved 1 9 40
iprobe point-to-point -1 -1 -1 3 0 - resolved 1 9 40
wait wait 4 -1 -1 3 0 irecv resolved 1 9 40
test wait 4 1 -1 -1 0 irecv resolved 1 9 40
iprobe point-to-point -1 -1 -1 3 0 - resolved 1 9 40
waitall wait 16 -1 -1 3 0 irecv resolved 1 10 40 0 resolved 1 12 40 2
waitall wait 160 -1 -1 3 0 irecv resolved 1 10 40 0 resolved 1 12 40 2" \
    "what a wildcard receive got is asked for, but of one that was cancelled"
profiled "$programs/program" failures
is "$(list labels | grep barrier)" \
    "barrier collective 0 -1 -1 -1 0 - failed 13
barrier collective 0 -1 -1 -1 0 -
barrier collective 0 -1 -1 -1 0 - failed 13
barrier collective 0 -1 -1 -1 0 -" "a call that returns an error is recorded as failed, with its class"

# --- polls ----------------------------------------------------------------------------------------
# The machine may take a process off its processor between two polls, which ends a run.
profiled "$programs/program" polls
exact='test poll 4 1 -1 2[0-7] 0 irecv' bare='test poll -1 -1 -1 -1 -1 mixed'
is "$(list polls | grep iprobe)" \
    "iprobe poll -1 1 -1 5 0 - 100000
iprobe poll -1 1 -1 6 0 - 3" "polls are counted by their arguments"
is "$(list polls | awk '/^test/ {sum += $NF} END {print sum}')" 12000 "and on several requests in turn"
[[ $(list polls | grep -cE "^($exact|$bare) ") -ge 9 ]]
result $? "eight requests are told apart, the others counted together"
[[ $(list polls | tail -n 1) -lt 200 ]]
result $? "112,003 polls are few events: $(list polls | tail -n 1)"
is "$(list labels | grep -c '^test wait')" 12 "each test that finds something is an event of its own"
is "$(grep -ao RSPW "$directory"/*/*.sptrace | wc -l)" 1 "and all in one window"
profiled SCOPE_PROFILE_WHAT=mpi-calls,polls=all "$programs/program" polls
is "$(list polls | tail -n 1)" 112003 "polls=all makes each an event"

for kinds in point-to-point poll; do
    profiled SCOPE_PROFILE_WHAT=mpi-calls="$kinds",polls=all "$programs/program" polls
    is "$(list labels | cut -d' ' -f2 | sort -u)" "$kinds" \
        "mpi-calls=$kinds records only those outcomes of a probe"
done
is "$(list polls | tail -n 1)" 112003 "and all of them"

# --- control --------------------------------------------------------------------------------------
profiled "$programs/program" control
recorded "MPI_Pcontrol"
is "$(list labels | grep -nE 'paused|resumed|^wait')" \
    "12:paused
13:resumed
14:wait wait 12 1 -1 5 0 isend" "pauses are known, and what was started in one"
profiled SCOPE_PROFILE_WHAT=mpi-calls,start=paused "$programs/program" control
is "$(list counts)" "send 11
wait 1" "start=paused records nothing before MPI_Pcontrol(1)"
is "$(list labels | cut -d' ' -f1 | head -n 3)" "paused
resumed
wait" "and says so"
profiled SCOPE_PROFILER_MPI=0 "$programs/program" plain
is "$status$messages$output" "0send 20" "SCOPE_PROFILER_MPI=0: the program runs as it does"
nothing_made "SCOPE_PROFILER_MPI=0"
mkdir "$work/here"
(cd "$work/here" && plainly LD_PRELOAD="$preload" SCOPE_PROFILER_MPI=1 "$programs/program" plain
    echo "$status$messages$output" >../said)
is "$(<"$work/said")" "0send 20" "SCOPE_PROFILER_MPI=1 without a launcher: the program runs as it does"
traces=("$work"/here/scope-profile-*-[0-9]*/world-0/rank-000000.sptrace)
is "$(run "$top_builddir/trace_list" counts "${traces[0]}")" "send 20" "and is recorded in its directory"
for kinds in wait other+point-to-point; do
    profiled SCOPE_PROFILE_WHAT=mpi-calls="$kinds" "$programs/program" requests
    is "$(list labels | cut -d' ' -f2 | sort -u | paste -sd+)" "$kinds" "mpi-calls=$kinds records no other"
done

# --- limits ---------------------------------------------------------------------------------------
for place in "$work" "$work/buffered"; do
    for scenario in threads polls; do
        profiled SCOPE_PROFILE_WHAT=mpi-calls,polls=all,max-trace=500K "$programs/program" "$scenario"
        is "$status$messages" 0 "$scenario with a small limit: ends as without us, and in silence"
        [[ $(stat -c %s "$directory"/*/*.sptrace) -le 512000 ]]
        result $? "$scenario: the trace keeps to it"
        has "$(list state)" "phase 4 stopped 1" "$scenario: and says so"
        case $scenario in
        threads)
            told=$(list counts | awk '/^send/ {print $2}')
            missed=$(list unrecorded | awk '/^send point-to-point 8 1 -1 5 0 - / {print $NF}')
            is "$((told + missed))" 400001 "each call is recorded or counted: $told and $missed"
            ;;
        polls)
            told=$(list polls | tail -n 1)
            missed=$(list unrecorded | awk '$2 == "poll" {sum += $NF} END {print sum}')
            is "$((told + missed))" 112003 "each poll is recorded or counted: $told and $missed"
            ;;
        esac
    done
done
place=$work

# --- threads and processes ------------------------------------------------------------------------
profiled "$programs/program" threads
is "$(list state)" "$closed streams 9" "one stream for each thread, nothing dropped"
profiled "$programs/program" fork
is "$(list state)" "$closed streams 1" "the child of fork leaves the parent's trace alone"
profiled "$programs/program" clone
is "$(list state)" "$closed streams 1" "so does a child that no fork of libc has made"
profiled "$programs/program" kill
is "$status" 137 "SIGKILL is SIGKILL"
is "$(list counts)" "$output" "each call that had ended before SIGKILL is there"
has "$(list state)" "phase 2 stopped 0" "and the trace tells that the rank did not finish"
profiled "$programs/program" exit
recorded "exit without MPI_Finalize" 3
profiled "$programs/program" abort
recorded "MPI_Abort" 42

# Where a trace is not mapped it is written when a window is full, and before the end.
place=$work/buffered
for scenario in plain threads fork clone; do
    profiled "$programs/program" "$scenario"
    recorded "$scenario, written by hand"
done
profiled "$programs/program" exit
recorded "exit without MPI_Finalize, written by hand" 3
profiled "$programs/program" abort
recorded "MPI_Abort, written by hand" 42
place=$work

# --- surroundings ---------------------------------------------------------------------------------
profiled "$programs/program" descriptors
recorded "descriptors are high and closed on exec"
profiled "$programs/program" few
recorded "a low limit on descriptors"
for place in "$work" /dev/shm; do
    profiled "$programs/program" closes_all
    is "$status$messages" 0 "a program that closes all descriptors keeps its own files ($place)"
done
place=$work
profiled "$programs/program" state
recorded "signals and floating-point state are the program's"

: >"$work/before"
plainly LD_PRELOAD="$preload" "$programs/program" plain
is "$status$messages$output" "0send 20" "without being asked, the program runs as it does"
is "$(find "$work" -mindepth 1 -newer "$work/before" ! -name messages)" "" "and no file is made"

: >"$work/file"
plainly LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$work/file/run" "$programs/program" exit
is "$status$output" "3send 10" "a run directory that cannot be made costs the program nothing"
is "$(wc -l <"$work/messages")" 1 "but one line"
has "$messages" "scope-profile: cannot make the directory $work/file/run" "which names it"
plainly LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$work/file/run" SLURM_PROCID=0 PMI_RANK=1 \
    "$programs/program" exit
is "$status$output$messages" "3send 10" "from the launcher's first rank, whatever Slurm calls a script"
rm "$work/file"

plainly LD_PRELOAD="$preload" SLURM_JOB_ID=1 SLURM_SCOPE_PROFILE_MPIRUN_JOB=1 PMI_RANK=0 \
    SLURM_SCOPE_PROFILE_MPIRUN_RUN=nowhere "$programs/program" exit
is "$status$output$messages" "3send 10" "the run of an mpirun without a place costs the program nothing"

profiled "$programs/program" lacking
is "$(list counts)" "scan 1
send 1" "a program that calls all there is"
profiled LD_LIBRARY_PATH="$programs/lacking" "$programs/program" plain
recorded "a library without one function"
plainly LD_LIBRARY_PATH="$programs/lacking" "$programs/program" lacking
is "$status" 127 "without us a call of a function that the library lacks ends with 127"
profiled LD_LIBRARY_PATH="$programs/lacking" "$programs/program" lacking
is "$status" 127 "with us as well"
has "$messages" "undefined symbol: MPI_Scan" "and names it"
is "$(list counts)" "send 1" "and what was called before is there"

profiled LD_LIBRARY_PATH="$programs/lacking" "$programs/program" absent
recorded "a function that the library lacks is not found by name"
profiled "$programs/program" looked_up
recorded "functions that are looked up by name"

# --- weak references ------------------------------------------------------------------------------
# asks NAME SAID COUNTED [VARIABLE]... PROGRAM [STEP]...: that the program says this without us,
# with us, and when it is recorded; $tool is preloaded as well
tool=''
asks() {
    local name=$1 said=$2 counted=$3
    shift 3
    plainly LD_PRELOAD="$tool" "$@"
    is "$status$messages$output" "0$said" "$name: without us"
    set -- LD_PRELOAD="$preload${tool:+:$tool}" "$@"
    plainly "$@"
    is "$status$messages$output" "0$said" "$name: with us"
    profiled "$@"
    is "$status$messages$output" "0$said" "$name: profiled"
    is "$(list counts)" "$counted" "$name: recorded"
}

none='MPI_Scan none' there='MPI_Scan there'
lacking=("$programs"/lacking/*.so)
for program in optional optional_now optional_fixed; do
    asks "$program, a function that is there" "program: $there
program: $there" "scan 1" "$programs/$program" ask init ask use finalize
    asks "$program, a function that the library lacks" "program: $none
program: $none" "send 1" LD_LIBRARY_PATH="$programs/lacking" \
        "$programs/$program" ask init ask use finalize
done
for plugin in optional.so optional_lazy.so; do
    asks "$plugin before the first call" "plugin: $none
plugin: $none" "send 1" LD_LIBRARY_PATH="$programs/lacking" "$programs/optional" \
        plugin="$programs/$plugin" ask init ask use finalize
    asks "$plugin after the first call" "plugin: $none" "send 1" \
        LD_LIBRARY_PATH="$programs/lacking" "$programs/optional" init \
        plugin="$programs/$plugin" ask use finalize
    asks "$plugin and its library, opened before the first call" "plugin: $none" "send 1" \
        LD_LIBRARY_PATH="$programs/lacking" "$here/optional_alone" \
        plugin="$programs/$plugin" init ask use finalize
    asks "$plugin after its library was looked into" "program: MPI_Scan none
MPI_Send there
plugin: $none" "send 1" LD_LIBRARY_PATH="$programs/lacking" "$here/optional_alone" \
        ask global="${lacking[0]}" look plugin="$programs/$plugin" ask init use finalize
done
tool=$programs/libtool.so
asks "a function that a tool has" "program: MPI_Scan in part
program: MPI_Scan in part
tool: 0 sends, 0 allreduces" "scan 1" LD_LIBRARY_PATH="$programs/lacking" \
    "$programs/optional" ask init ask use finalize
# A copy behind us has all names as well.
for order in "$preload:$work/copy.so" "$work/copy.so:$preload"; do
    profiled LD_PRELOAD="$order" LD_LIBRARY_PATH="$programs/lacking" "$programs/optional" \
        ask init use finalize
    is "$status$messages$output" "0program: $none" "two copies: a function that the library lacks"
    profiled LD_PRELOAD="$order" LD_LIBRARY_PATH="$programs/lacking" "$here/optional_alone" ask \
        plugin="$programs/optional.so" init ask use finalize
    is "$status$messages$output" "0program: $none
plugin: $none" "two copies: a library that was opened later"
done
profiled "$here/optional_alone" ask init ask use finalize
is "$status$messages$output" "0program: $none
program: $none" "a program without MPI that asks for it"
nothing_made "a program without MPI that asks for it"

# --- programs that are not linked with MPI --------------------------------------------------------
profiled "$here/loader" "$programs/plugin.so"
recorded "a library that was opened RTLD_LOCAL"
profiled "$here/loader"
is "$status$messages" 0 "a program without MPI runs"
nothing_made "a program without MPI"
profiled "$here/loader" "$here/stub/plugin.so"
is "$status$messages$output" "0send 25" "a program with a serial MPI of its own runs"
nothing_made "a serial MPI"

if [[ $family == mpich ]]; then
    profiled LD_LIBRARY_PATH="$programs/unknown" "$programs/program" plain
    is "$status$output" "0send 20" "a library of an unknown family: the program runs"
    is "$(wc -l <<<"$messages")" 1 "with one line"
    has "$messages" 'a family that is not known ("Unheard-of MPI 1.0")' "that says why"
    nothing_made "a library of an unknown family"
fi
if [[ $host_cpu == "$build_cpu" ]]; then
    profiled "$programs/throws"
    recorded "exceptions thrown through a call"
fi
done_testing
