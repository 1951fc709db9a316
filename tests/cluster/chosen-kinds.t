#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Some kinds of calls alone: these are there as ever, also where they depend on calls of other kinds
# (requests of collectives, communicators), and no others.
. "$(dirname "$0")/scenario.sh"
plan 4
fresh_directory
export OMPI_MCA_osc=pt2pt,sm # as in two-hosts-two-mpis.t
build_conformance openmpi

# chosen WORDS NAME: the profile of a run with WORDS has these calls
chosen() {
    rm -rf tally.* scope-profile-*
    run srun -N2 -n4 --mpi=pmix --scope-profile="$1" ./conformance
    is "$status" 0 "$2: the program runs"
    passes "$2: they are recorded, and no others" agrees "$(echo scope-profile-*.h5)"
}
chosen mpi-calls=wait+poll,polls=all "waits, and each poll an event"
chosen mpi-calls=point-to-point+communicator+io "three kinds"
