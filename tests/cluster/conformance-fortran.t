#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The three ways in which Fortran knows MPI, under Open MPI and MPICH, on four ranks of two hosts:
# the profile has exactly what the program counted itself, and nothing of what the Fortran layers
# call on their own.
. "$(dirname "$0")/scenario.sh"
plan 12
fresh_directory
export OMPI_MCA_osc=pt2pt,sm # as in two-hosts-two-mpis.t

for mpi in openmpi mpich; do
    "mpicc.$mpi" -c -o fortran.o "$programs/tally_fortran.c"
    for style in mpif_h mpi_module mpi_f08; do
        rm -rf tally.* ./*.h5
        "mpifort.$mpi" -g -w -fallow-argument-mismatch -D"${style^^}" -o "$style" \
            "$programs/every_group.F90" fortran.o
        run srun -N2 -n4 --mpi="${launcher[$mpi]}" --scope-profile=mpi-calls=all ./$style
        is "$status" 0 "$mpi, $style: the program runs"
        passes "$mpi, $style: each region has the calls that the program counted, rank by rank" \
            agrees "$(echo scope-profile-*.h5)"
    done
done
