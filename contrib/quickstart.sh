#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 to the first profile: build, start a cluster, run an MPI program, look.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: contrib/quickstart.sh [--build DIR]

Installs the Debian packages, builds scope-profile, starts a private two-host Slurm
cluster on this machine, profiles an MPI program on both hosts, shows the result with
the Python package scope-profiler and with sp-report, and stops the cluster again.
Run it as root. Takes a few minutes on a fresh machine.

  --build DIR   build, install and keep the result below DIR (default build/)
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
        printf 'quickstart.sh: unknown argument "%s"\n' "$1" >&2
        usage >&2
        exit 64
        ;;
    esac
    shift
done

# shellcheck source-path=SCRIPTDIR source=steps.sh
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
need_root
choose_build "$build_option"
step_total=6
cluster=''

stop_cluster() {
    "$top/contrib/mini-cluster" down --dir "$cluster" && rmdir "$cluster"
}

finish() {
    local status=$?
    trap '' INT TERM HUP
    [[ -z $cluster ]] || stop_cluster || status=1
    if ((status == 0)); then
        printf '\nquickstart: success after %d s; the profile is %s\n' "$SECONDS" "$profile"
    else
        printf '\nquickstart: FAILED after %d s; logs are in %s\n' "$SECONDS" "$build/logs"
    fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

heading "Installing Debian packages"
quietly "$build/logs/packages.log" install_packages
tail -n 1 "$build/logs/packages.log"

heading "Building scope-profile"
build_and_stage

heading "Installing the Python package scope-profiler"
make_python

heading "Starting a Slurm cluster of two hosts"
cluster=$(mktemp -d /tmp/scope-quickstart.XXXXXX)
show "$top/contrib/mini-cluster" up --dir "$cluster" --plugstack-line "$(plugstack_line)"

heading "Profiling an MPI program: four ranks on two hosts"
work=$cluster/home
show mpicc.openmpi -O2 -o "$work/stencil" "$top/examples/stencil.c" -lm
in_cluster() {
    "$top/contrib/mini-cluster" run --dir "$cluster" "$@"
}
echo "$ srun -N2 -n4 --scope-profile=mpi-calls ./stencil"
in_cluster srun -N2 -n4 --scope-profile=mpi-calls ./stencil 20000 500
mapfile -t found < <(find "$work" -maxdepth 1 -name 'scope-profile-*.h5')
((${#found[@]} == 1)) || {
    echo "expected one profile in $work, found ${#found[@]}"
    exit 1
}
profile=$build/${found[0]##*/}
cp "${found[0]}" "$profile"

heading "Looking at the profile"
show "$build/python/bin/scope-profiler" inspect "$profile"
show "$build/stage/bin/sp-report" "$profile"
