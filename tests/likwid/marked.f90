! SPDX-License-Identifier: BSD-3-Clause
! The same as marked.c in Fortran: rank r is in "solve" 3 + r times, in "a/b-c" once.
program marked
    use mpi
    implicit none
    external :: likwid_markerInit, likwid_markerThreadInit, likwid_markerClose
    external :: likwid_markerStartRegion, likwid_markerStopRegion
    integer :: rank, i, error
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call likwid_markerInit()
    call likwid_markerThreadInit()
    do i = 1, 3 + rank
        call likwid_markerStartRegion("solve")
        call likwid_markerStopRegion("solve")
    end do
    call likwid_markerStartRegion("a/b-c")
    call likwid_markerStopRegion("a/b-c")
    call likwid_markerClose()
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Finalize(error)
end program marked
