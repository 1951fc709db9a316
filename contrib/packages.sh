#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The one list of Debian packages to build, test and try scope-profile, and how to install them.
#
# Run it to install what is missing. Other scripts source it and call install_packages.

# One line a purpose.
SP_PACKAGES=(
    # building
    build-essential autoconf automake libtool pkg-config python3 xz-utils
    libslurm-dev libhdf5-dev libjson-c-dev zlib1g-dev
    # MPI, with Fortran and the programs of others that the tests profile
    gfortran openmpi-bin libopenmpi-dev mpich libmpich-dev
    python3-mpi4py netpipe-openmpi netpipe-mpich2
    # Slurm and what the mini cluster is made of
    slurm-wlm slurmctld slurmd slurm-client munge
    iproute2 util-linux procps hostname
    # reading profile files
    hdf5-tools python3-h5py python3-venv python3-pip
    # tests
    libcriterion-dev likwid valgrind libc6-dbg perl shellcheck file mandoc
    clang libclang-rt-14-dev
    e2fsprogs xfsprogs btrfs-progs fuse2fs
    # the preload library for aarch64
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
)

# missing_packages: the packages of the list that are not installed, one a line
missing_packages() {
    local installed
    # dpkg-query fails when it knows one of the names not at all: that is an answer, too.
    installed=$(dpkg-query --show --showformat '${db:Status-Abbrev} ${Package}\n' \
        "${SP_PACKAGES[@]}" 2>/dev/null | sed -n 's/^ii *//p' || true)
    printf '%s\n' "${SP_PACKAGES[@]}" | grep -vxF -f <(printf '%s\n' "$installed" '') || true
}

# Slurm's and munge's packages start their daemons at once, and without a configuration slurmd
# and slurmctld fail. A policy-rc.d forbids it while we install, where there is none already.
install_without_daemons() {
    local policy=/usr/sbin/policy-rc.d made=0 status=0
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        made=1
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends \
        -o Dpkg::Use-Pty=0 "$@" || status=$?
    ((made == 0)) || rm -f "$policy"
    return "$status"
}

# install_packages: every package of the list is there afterwards. Returns 0 or an error.
install_packages() {
    local -a missing
    if ! command -v apt-get >/dev/null; then
        echo "packages.sh: no apt-get: this needs Debian 12; install the equivalents of:" >&2
        echo "  ${SP_PACKAGES[*]}" >&2
        return 1
    fi
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then
        echo "all ${#SP_PACKAGES[@]} packages are there already"
        return 0
    fi
    if ((EUID != 0)); then
        echo "packages.sh: missing, and only root can install them: ${missing[*]}" >&2
        return 1
    fi
    echo "installing ${#missing[@]} packages: ${missing[*]}"
    apt-get update --quiet || return
    install_without_daemons "${missing[@]}" || return
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} == 0)) || {
        echo "packages.sh: still missing: ${missing[*]}" >&2
        return 1
    }
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    case ${1:-} in
    '') ;;
    -h | --help)
        printf 'Usage: packages.sh\nInstalls the Debian packages that scope-profile needs (as root).\n'
        exit 0
        ;;
    *)
        printf 'packages.sh: unknown argument "%s"\nTry "packages.sh --help".\n' "$1" >&2
        exit 64
        ;;
    esac
    set -euo pipefail
    install_packages
fi
