#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What hosting QMPI tools must do over an MPI library of one family: sourced with family set.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
programs=$top_builddir/tests/dispatch/${family:?}
preload=$top_builddir/.libs/libscope_preload.so
work=$(mktemp -d "${TMPDIR:-/tmp}/sp-qmpi-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools"
cp "$programs/qmpi_tool.so" "$work/tools/all.so"
# The same with wrappers that end in jumps.
mkdir "$work/jumps"
cp "$programs/qmpi_jumps.so" "$work/jumps/all.so"
for name in mpich first second nothing wrong alien astray late silent plain asking after apart \
    early meddling excluded com,ma; do
    ln -s all.so "$work/tools/$name.so" # one file is loaded once
    ln -s all.so "$work/jumps/$name.so"
done
kind=tools
run_number=0

# tools LIST [NAME=VALUE]... PROGRAM [ARGUMENT]...: profiled, with these tools
tools() {
    local list=$1
    shift
    run_number=$((run_number + 1))
    directory=$work/run-$run_number
    output=$(run LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$directory" \
        SCOPE_PROFILE_QMPI_TOOLS="$list" SCOPE_PROFILE_QMPI_PATH="$work/$kind" "$@" \
        2>"$work/messages")
    status=$?
    messages=$(<"$work/messages")
}

counts() {
    run "$top_builddir/trace_list" counts "$directory"/*/*.sptrace
}

# said TEXT NAME: the last run ended well, in silence, and this was printed
said() {
    is "$status$messages" 0 "$2: ends as without tools, and in silence"
    is "$output" "$1" "$2: each instance sees the program's calls"
}

# recorded COUNTS NAME
recorded() {
    is "$(counts)" "$1" "$2: the profile is as without tools"
}

# --- arguments ------------------------------------------------------------------------------------
run LD_PRELOAD="$preload" SCOPE_PROFILE_RUN="$work/every" "$programs/program" every_local \
    >"$work/every.out"
alone=$(run "$top_builddir/trace_list" counts "$work"/every/*/*.sptrace)
functions=$(wc -l <"$work/every.out")
calls=$((6 * functions + 2))
for list in all all+all scope+all all+scope+all; do
    tools "$list" SCOPE_PROFILE_WHAT=mpi-calls "$programs/program" every_local
    is "$status$messages" 0 "$list: arguments, results and errno of every function pass"
    is "$(grep -c "^all [12]: $calls calls" <<<"$output")" "$(grep -o all <<<"$list" | wc -l)" \
        "$list: each instance sees each of $calls calls"
    recorded "$alone" "$list"
done
tools all QMPI_TOOL_REFUSED=1 "$programs/program" plain
has "$output" "all: 0 refused" "every function can be a tool's"
tools mpich "$programs/program" plain
if [[ $family == mpich ]]; then
    is "$status$output" "0send 20
mpich 1: 22 calls, 0 sends, 0 allreduces" "a tool with MPICH's numbers is hosted"
else
    is "$status$output" "0send 20
mpich 1: 0 calls, 0 sends, 0 allreduces" "a tool with MPICH's numbers gets nothing"
    has "$messages" 'the QMPI tool "mpich" registers function number' "and is told of"
fi

# --- order ----------------------------------------------------------------------------------------
nested() {
    tools "$1" QMPI_TOOL_LOG=MPI_Send "$programs/program" once
    is "$(grep -v calls <<<"$output")" "$2" "$1: in this order"
}
nested first+second+first "first 1 MPI_Send
second 2 MPI_Send
first 3 MPI_Send
send 1"
nested second+scope+first "second 1 MPI_Send
first 2 MPI_Send
send 1"
nested scope+second+first "second 1 MPI_Send
first 2 MPI_Send
send 1"
# A tool that does not call on shows who stands in front of it, the recorder too.
for place in "first+scope+silent+second 20" "first+silent+scope+second"; do
    read -r list recorded <<<"$place"
    tools "$list" "$programs/program" plain
    is "$status$messages$output" "0send 20
second 3: 0 calls, 0 sends, 0 allreduces
silent 2: 0 calls, 20 sends, 0 allreduces
first 1: 0 calls, 20 sends, 0 allreduces" "$list: what is behind a tool that does not call on"
    is "$(counts)" "${recorded:+send $recorded}" "$list: and where the recorder stands"
done
tools first+second+first "$programs/program" callback
said "allreduce 6
send 15
first 3: 0 calls, 15 sends, 6 allreduces
second 2: 0 calls, 15 sends, 6 allreduces
first 1: 0 calls, 15 sends, 6 allreduces" "two instances and a second tool"
recorded "allreduce 6
send 15" "two instances and a second tool"

# --- who calls ------------------------------------------------------------------------------------
for list in first scope+first; do
    # sees SCENARIO SENDS ALLREDUCES
    while read -r scenario sends allreduces; do
        tools "$list" "$programs/program" "$scenario"
        is "$status$messages$(tail -n 1 <<<"$output")" \
            "0first 1: 0 calls, $sends sends, $allreduces allreduces" \
            "$list, $scenario: seen once each"
        is "$(counts)" "$(grep -v calls <<<"$output")" "$list, $scenario: recorded once each"
    done <<'END'
internal 3 0
recursion 0 10
longjmp 6001 6003
plain 20 0
starting 3 0
threads 400001 0
END
done
tools all "$programs/program" jumping
is "$status$messages$output" "0all 1: 7 calls, 0 sends, 0 allreduces" \
    "what a function of the library jumps to is no call of the program"
tools first LD_PRELOAD="$preload:$programs/libtool.so" "$programs/program" callback
is "$(grep : <<<"$output" | sort)" "first 1: 0 calls, 15 sends, 6 allreduces
tool: 10 sends, 6 allreduces" "a PMPI tool behind us sees what it would see, and so does ours"
tools first LD_PRELOAD="$programs/libtool.so:$preload" "$programs/program" callback
is "$(grep : <<<"$output" | sort)" "first 1: 0 calls, 15 sends, 6 allreduces
tool: 10 sends, 6 allreduces" "and one before us"
# A plugin's functions have symbols that can be asked for; a program's have not.
tools first QMPI_TOOL_ADDRESS=1 "$top_builddir/tests/dispatch/loader" "$programs/plugin.so"
is "$(grep from <<<"$output" | sort -u)" "MPI_Send from plugin_run" \
    "the calling address is the program's"
tools scope+first QMPI_TOOL_ADDRESS=1 "$top_builddir/tests/dispatch/loader" "$programs/plugin.so"
is "$(grep from <<<"$output" | sort -u)" "MPI_Send from plugin_run" "behind the recorder as well"
tools first QMPI_TOOL_ADDRESS=1 LD_PRELOAD="$programs/libtool.so:$preload" "$programs/program" once
is "$(grep from <<<"$output")" "MPI_Send from MPI_Send" "or that of the PMPI tool that is before us"

if [[ -e $programs/qmpi_cxx.so ]]; then
    tools cxx SCOPE_PROFILE_QMPI_PATH="$programs/qmpi_cxx.so" "$programs/program" plain
    is "$status$messages$(sort <<<"$output")" "0cxx 1: 20 sends
send 20" "a tool in C++"
fi

# --- choosing -------------------------------------------------------------------------------------
tools first SCOPE_PROFILE_WHAT=mpi-calls,qmpi=second "$programs/program" once
has "$output" "second 1: 0 calls, 1 sends" "the word of WHAT comes before the variable"
tools "" SCOPE_PROFILE_WHAT="mpi-calls,qmpi=second,qmpi-path=$work/tools" SCOPE_PROFILE_QMPI_PATH= \
    "$programs/program" once
has "$output" "second 1: 0 calls, 1 sends" "and says where libraries are"
tools "" MPIR_CVAR_QMPI_TOOL_LIST=second:first "$programs/program" once
has "$output" "first 2: 0 calls, 1 sends" "MPICH's own variable is heeded where ours is not set"
tools first MPIR_CVAR_QMPI_TOOL_LIST=second:first "$programs/program" once
is "$(grep -c calls <<<"$output")" 1 "and only there"
tools "" SCOPE_PROFILE_QMPI_PATH="$work/tools/all.so" "$programs/program" once
is "$status$messages$output" "0send 1" "without a list nothing is loaded"
tools first SCOPE_PROFILE_QMPI_PATH="$work/tools/all.so" "$programs/program" once
has "$output" "first 1: 0 calls, 1 sends" "a library can be named by its file"
tools first SCOPE_PROFILE_QMPI_PATH= LD_PRELOAD="$preload:$work/tools/all.so" \
    "$programs/program" once
has "$output" "first 1: 0 calls, 1 sends" "or be there already"
tools first "$top_builddir/tests/dispatch/loader"
is "$status$messages$output" 0 "a program without MPI loads none"
tools first "$top_builddir/tests/dispatch/loader" "$programs/plugin.so"
is "$status$messages$output" "0send 25
first 1: 0 calls, 25 sends, 0 allreduces" "an MPI library that was opened later is served"
# C++ bindings call MPI for the program.
cp "$programs/plugin.so" "$work/libmpi_cxx.so"
tools first "$top_builddir/tests/dispatch/loader" "$work/libmpi_cxx.so"
is "$status$messages$output" "0send 25
first 1: 0 calls, 25 sends, 0 allreduces" "what a layer for another language calls is the program's"
tools first "$programs/program" control
is "$status$messages" 0 "tools do not mind MPI_Pcontrol"
is "$(counts)" "$(grep -v calls <<<"$output")" "and recording pauses as without them"

tools "" SCOPE_PROFILE_WHAT="mpi-calls,qmpi=first+com\\,ma" "$programs/program" once
is "$status$messages$output" "0send 1
nothing 2: 0 calls, 0 sends, 0 allreduces
first 1: 0 calls, 1 sends, 0 allreduces" "a name may have what WHAT escapes"
if [[ $family == mpich ]]; then
    hosting=LD_LIBRARY_PATH=$programs/hosting
    tools "" "$hosting" MPIR_CVAR_QMPI_TOOL_LIST=second:first "$programs/program" once
    said "send 1
first 2: 0 calls, 1 sends, 0 allreduces
second 1: 0 calls, 1 sends, 0 allreduces" "an MPI library that would host tools itself"
    recorded "send 1" "an MPI library that would host tools itself"
    tools second "$hosting" MPIR_CVAR_QMPI_TOOL_LIST=unheard-of "$programs/program" once
    said "send 1
second 1: 0 calls, 1 sends, 0 allreduces" "and that finds unknown ones in its own list"
    output=$(run LD_PRELOAD="$preload:$work/tools/all.so" "$hosting" \
        MPIR_CVAR_QMPI_TOOL_LIST=first "$programs/program" once 2>&1)
    is "$?$output" "0send 1" "and where nothing is recorded"
fi

# --- wrappers that end in jumps -------------------------------------------------------------------
# jumps LIST SCENARIO COUNTS PROFILE: the same from tools whose wrappers end in jumps, and in calls
jumps() {
    for kind in tools jumps; do
        tools "$1" "$programs/program" "$2"
        is "$status$messages$(grep calls <<<"$output")" "0$3" "$kind, $1, $2: seen once each"
        is "$(counts)" "$4" "$kind, $1, $2: recorded once each"
    done
    kind=tools
}
for list in first scope+first; do
    jumps "$list" callback "first 1: 0 calls, 15 sends, 6 allreduces" "allreduce 6
send 15"
done
for list in plain scope+plain; do
    jumps "$list" plain "plain 1: 0 calls, 20 sends, 0 allreduces" "barrier 20
send 20"
done
for list in after scope+after; do
    jumps "$list" plain "after 1: 0 calls, 20 sends, 0 allreduces" "barrier 20
send 20"
done
jumps after+all plain "all 2: 22 calls, 0 sends, 0 allreduces
after 1: 0 calls, 20 sends, 0 allreduces" "barrier 20
send 20"
jumps scope+first internal "first 1: 0 calls, 3 sends, 0 allreduces" "barrier 14
send 3"

# --- what goes wrong ------------------------------------------------------------------------------
# wrong LIST OUTPUT MESSAGE NAME: the program ends well, and one line may say why
wrong() {
    tools "$1" "$programs/program" plain
    is "$status$output" "0$2" "$4: the program runs"
    if [[ $3 ]]; then
        is "$(wc -l <<<"$messages")" 1 "$4: one line"
        has "$messages" "scope-profile: $3" "$4: which says so"
    else
        is "$messages" "" "$4: in silence"
    fi
}
tools apart+all QMPI_TOOL_APART="$programs/qmpi_apart.so" "$programs/program" plain
is "$status$messages$output" "0send 20
all 2: 22 calls, 0 sends, 0 allreduces
apart 1: 0 calls, 0 sends, 0 allreduces" "a wrapper in another library calls as the tool"
nobody='no library in SCOPE_PROFILE_QMPI_PATH announces it'
wrong unheard-of "send 20" "there is no QMPI tool \"unheard-of\": $nobody" \
    "an unknown name"
wrong unheard-of+first "send 20
first 1: 0 calls, 20 sends, 0 allreduces" 'there is no QMPI tool "unheard-of"' \
    "one unknown name of two"
while read -r list reason; do
    wrong "$list" "send 20" "$reason: no QMPI tool is loaded" "the list $list"
done <<'END'
../tools/first "../tools/first" cannot be the name of a QMPI tool
first+ "" cannot be the name of a QMPI tool
first++first "" cannot be the name of a QMPI tool
scope+first+scope scope stands twice in the list of QMPI tools
END
tools "" MPIR_CVAR_QMPI_TOOL_LIST=first: "$programs/program" plain
is "$status$output$messages" \
    '0send 20scope-profile: "" cannot be the name of a QMPI tool: no QMPI tool is loaded' \
    "MPICH's own variable is checked alike"
echo "no library" >"$work/tools/broken.so"
wrong broken "send 20" "a library of QMPI tools cannot be loaded: $work/tools/broken.so: " \
    "a broken library"
wrong nothing "send 20
nothing 1: 0 calls, 0 sends, 0 allreduces" "" "a tool that registers nothing"
wrong wrong "a number that is no function's: refused
a number of another MPI: refused
NULL: refused
send 20
wrong 1: 0 calls, 0 sends, 0 allreduces" 'the QMPI tool "wrong" registers function number' \
    "wrong numbers"
wrong excluded "MPI_Wtime: refused
send 20
excluded 1: 0 calls, 0 sends, 0 allreduces" 'the QMPI tool "excluded" registers function number' \
    "a function that no tool can have"
has "$messages" ", one of those that tools cannot have, such as MPI_Wtime: see qmpi(7)" \
    "which is told from a wrong number"
wrong alien "another's id: refused
storage of another's id: refused
what to call before all is known: refused
calling it: refused
the storage of nobody: refused
the address of no call: refused
a place that is NULL: refused
send 20
alien 1: 0 calls, 0 sends, 0 allreduces" \
    "a QMPI tool registers a function for id 99, which nobody has" "ids of others"
wrong late "a function after init: refused
a tool after init: refused
send 20
late 1: 0 calls, 20 sends, 0 allreduces" \
    'the QMPI tool "late" registers a function outside of its init: it has no effect' "too late"
wrong meddling+meddling "a function for another instance: refused
send 20
meddling 2: 0 calls, 0 sends, 0 allreduces
meddling 1: 0 calls, 0 sends, 0 allreduces" \
    'the QMPI tool "meddling" registers a function outside of its init: it has no effect' \
    "an instance that registers for another"
wrong early "what to call before all is known: refused
calling it: refused
MPI: taken
MPI again: taken
send 20
early 1: 0 calls, 20 sends, 0 allreduces" "" "a thread that is too early"
wrong astray "send 20
astray 1: 0 calls, 0 sends, 0 allreduces" "" "what follows an id of nobody's"
is "$(counts)" "" "there is nothing that could be called"
wrong silent "send 20
silent 1: 0 calls, 20 sends, 0 allreduces" "" "a tool that does not call on"
is "$(counts)" "" "what is not called is not recorded"
wrong plain "send 20
plain 1: 0 calls, 20 sends, 0 allreduces" "" "a tool that calls MPI by name"
is "$(counts)" "barrier 20
send 20" "no tool sees what a tool calls by name, but it reaches the library and is recorded"
wrong asking "send 20
asking 1: 0 calls, 20 sends, 0 allreduces" "" "a tool that calls another function"
is "$(counts)" "barrier 20
send 20" "what reaches the recorder is recorded"
tools first QMPI_TOOL_NAMES=1 "$programs/program" plain
is "$status$output" "0a name that is taken: refused
the recorder's name: refused
no name: refused
no function: refused
send 20
first 1: 0 calls, 20 sends, 0 allreduces" "names that cannot be"
tools first QMPI_TOOL_MANY=1 "$programs/program" plain
has "$status$output" "0many-46: refused
send 20
first 1: 0 calls, 20 sends, 0 allreduces" "more tools announced than there is room for"
has "$messages" 'the QMPI tool "many-46" is one more than the 64 that there can be: it is not ' \
    "and are told of"
tools first SCOPE_PROFILE_QMPI_PATH=.:relative "$programs/program" plain
is "$status$output" "0send 20" "a path that is not absolute: the program runs"
has "$messages" 'SCOPE_PROFILE_QMPI_PATH: "." is no absolute path: nothing is loaded from there' \
    "and is told of"
cd "$work/tools" || exit 1
tools first SCOPE_PROFILE_QMPI_PATH= "$programs/program" plain
is "$status$output" "0send 20" "nothing is loaded from the current directory"
tools "$(printf 'first+%.0s' {1..65})first" "$programs/program" plain
is "$status$output" "0send 20" "more tools than there is room for: the program runs"
has "$messages" "there are more than 64 QMPI tools in the list: no QMPI tool is loaded" \
    "and is told of"

# --- who is told ----------------------------------------------------------------------------------
missing='there is no QMPI tool "unheard-of"'
tools unheard-of+late "$programs/program" plain
is "$(wc -l <<<"$messages")" 2 "a missing tool keeps no other's mistake back"
has "$messages" "$missing" "the one is told"
has "$messages" 'the QMPI tool "late" registers a function outside of its init' "and the other"
tools unheard-of+broken+unknown "$programs/program" plain
is "$(wc -l <<<"$messages")" 1 "all that is missing is in one line"
for part in "$missing" 'there is no QMPI tool "unknown"' "$work/tools/broken.so: "; do
    has "$messages" "$part" "which has: $part"
done
tools unheard-of SCOPE_PROFILE_RUN=/proc/none "$programs/program" plain
is "$(wc -l <<<"$messages")" 2 "a missing tool keeps back nothing of the profile's"
has "$messages" "the program runs without profiling" "which is told"

# told RANK LOCAL-RANK NODE: what a rank says of a tool that is missing, and of one that is wrong
told() {
    tools unheard-of+late PMI_RANK="$1" SLURM_LOCALID="$2" SLURM_NODEID="$3" "$programs/program" \
        plain
}
told 4 0 1
is "$messages" "scope-profile: $(uname -n): $missing: $nobody" \
    "the first rank of another node tells what is missing there, and no more"
told 5 1 1
is "$messages" "" "its second one says nothing"
told 64 0 16
is "$messages" "" "nor does the first one of a node behind the first 16"

# --- a site's tools -------------------------------------------------------------------------------
mkdir -p "$work/site/qmpi" "$work/users"
cp "$preload" "$work/site"
cp "$programs/qmpi_tool.so" "$work/site/qmpi/first.so"
echo "no library" >"$work/users/first.so"
tools first LD_PRELOAD="$work/site/libscope_preload.so" SCOPE_PROFILE_QMPI_PATH="$work/users" \
    "$programs/program" plain
is "$status$messages$output" "0send 20
first 1: 0 calls, 20 sends, 0 allreduces" "a user's library does not take the name of a site's"
tools first QMPI_TOOL_FILE=1 LD_PRELOAD="$work/site/libscope_preload.so:$work/tools/all.so" \
    "$programs/program" once
is "$status$messages$(grep " is in " <<<"$output")" "0first is in $work/site/qmpi/first.so" \
    "nor does one that the program was started with"
tools first QMPI_TOOL_FILE=1 LD_PRELOAD="$preload:$work/tools/all.so" "$programs/program" once
is "$status$messages$(grep " is in " <<<"$output")" "0first is in $work/tools/all.so" \
    "which can be chosen elsewhere"
done_testing
