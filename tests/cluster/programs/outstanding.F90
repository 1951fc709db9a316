! SPDX-License-Identifier: BSD-3-Clause
! What outstanding.c does, in Fortran: its layer hands copies of the requests to MPI.
program outstanding
    use mpi_f08
    implicit none
    integer, parameter :: waited = 5
    integer, asynchronous :: numbers(waited + 1)
    type(MPI_Request) :: requests(waited), other
    integer :: rank, i, index
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    numbers = rank
    if (rank == 0) then
        call MPI_Irecv(numbers(1), 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, requests(1))
        call MPI_Irecv(numbers(2), 1, MPI_INTEGER, 2, 4, MPI_COMM_WORLD, requests(2))
        call MPI_Irecv(numbers(3), 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, requests(3))
        call MPI_Irecv(numbers(6), 1, MPI_INTEGER, 3, 11, MPI_COMM_WORLD, other)
        do i = 4, waited
            call MPI_Isend(numbers(i), 1, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, requests(i))
        end do
        do i = 1, 2
            call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
        end do
        call MPI_Waitall(waited, requests, MPI_STATUSES_IGNORE)
    else if (rank < 3) then
        call MPI_Send(numbers, 1, MPI_INTEGER, 0, rank + 2, MPI_COMM_WORLD)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
end program
