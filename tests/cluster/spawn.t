#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_spawn: each world has a file with what its ranks called. Neither Slurm's PMI plugins nor
# Debian's mpirun.mpich start processes that way; Open MPI's mpirun does.
. "$(dirname "$0")/scenario.sh"
plan 4
fresh_directory
in_work mkdir spawned
mpicc_openmpi -o spawn "$programs/spawn.c"

run sp-run mpi-calls -- mpirun.openmpi --oversubscribe -n 2 ./spawn
is "$status" 0 "two ranks spawn two more"
second=$(echo scope-profile-*-2.h5)
first=${second%-2.h5}.h5
is "$(listing .)" "$second $first spawn spawned tally.0 tally.1" "there are two files, nothing else"
passes "one has the calls of those that were there" agrees "$first"
passes "the other those of the spawned ones" agrees "$second" spawned
