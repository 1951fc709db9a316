! SPDX-License-Identifier: BSD-3-Clause
! Calls of every group from Fortran, on four ranks, each tallied by its region label. Compiled with
! -DMPIF_H, -DMPI_MODULE or -DMPI_F08: the three ways in which Fortran knows MPI.

#if defined MPI_F08
#define HANDLE(name) type(name)
#define STATUS_T type(MPI_Status)
#define SHAPE
#else
#define HANDLE(name) integer
#define STATUS_T integer
#define SHAPE (MPI_STATUS_SIZE)
#endif

! The tally of tally.h.
module tallies
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: none = -1, any = -1, proc_null = -2
    integer, parameter :: ints = 4, reals = 8 ! bytes

    interface
        subroutine tally_fortran_call(what, operation, kind, bytes, peer, root, tag, comm) bind(C)
            import :: c_char, c_int, c_long
            character(kind=c_char), intent(in) :: what(*), operation(*), kind(*), comm(*)
            integer(c_long), value :: bytes
            integer(c_int), value :: peer, root, tag
        end subroutine
        subroutine tally_fortran_requests(operation, kind, bytes, peer, tag, comm, request) bind(C)
            import :: c_char, c_int, c_long
            character(kind=c_char), intent(in) :: operation(*), kind(*), comm(*), request(*)
            integer(c_long), value :: bytes
            integer(c_int), value :: peer, tag
        end subroutine
        subroutine tally_fortran_communicator(name, kind, parent, members) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*), kind(*), parent(*), members(*)
        end subroutine
        subroutine tally_fortran_leave(rank, size) bind(C)
            import :: c_int
            integer(c_int), value :: rank, size
        end subroutine
    end interface

contains

    subroutine call_as(what, operation, kind, bytes, peer, root, tag, comm)
        character(*), intent(in) :: what, operation, kind, comm
        integer, intent(in) :: bytes, peer, root, tag
        call tally_fortran_call(what // c_null_char, operation // c_null_char, &
            kind // c_null_char, int(bytes, c_long), peer, root, tag, comm // c_null_char)
    end subroutine

    subroutine local(operation, kind, comm)
        character(*), intent(in) :: operation, kind, comm
        call call_as('local', operation, kind, none, none, none, none, comm)
    end subroutine

    subroutine message(operation, bytes, peer, tag)
        character(*), intent(in) :: operation
        integer, intent(in) :: bytes, peer, tag
        call call_as('call', operation, 'point-to-point', bytes, peer, none, tag, '0')
    end subroutine

    subroutine collective(operation, bytes, root, comm)
        character(*), intent(in) :: operation, comm
        integer, intent(in) :: bytes, root
        call call_as('call', operation, 'collective', bytes, none, root, none, comm)
    end subroutine

    subroutine plain(operation, kind, comm)
        character(*), intent(in) :: operation, kind, comm
        call call_as('call', operation, kind, none, none, none, none, comm)
    end subroutine

    subroutine requests(operation, kind, bytes, peer, tag, comm, request)
        character(*), intent(in) :: operation, kind, comm, request
        integer, intent(in) :: bytes, peer, tag
        call tally_fortran_requests(operation // c_null_char, kind // c_null_char, &
            int(bytes, c_long), peer, tag, comm // c_null_char, request // c_null_char)
    end subroutine

    ! A wait for one message of COMM_WORLD.
    subroutine waited(bytes, peer, tag, request)
        integer, intent(in) :: bytes, peer, tag
        character(*), intent(in) :: request
        call requests('wait', 'wait', bytes, peer, tag, '0', request)
    end subroutine

    subroutine communicator(name, kind, parent, members)
        character(*), intent(in) :: name, kind, parent, members
        call tally_fortran_communicator(name // c_null_char, kind // c_null_char, &
            parent // c_null_char, members // c_null_char)
    end subroutine
end module

! A reduction operation that calls MPI itself.
#if defined MPI_F08
subroutine add(from, to, length, datatype)
    use mpi_f08
    use tallies
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    implicit none
    type(c_ptr), value :: from, to
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    integer :: error
    call c_f_pointer(from, a, [length])
    call c_f_pointer(to, b, [length])
#else
subroutine add(a, b, length, datatype)
#if defined MPI_MODULE
    use mpi
#endif
    use tallies
    implicit none
#if defined MPIF_H
    include 'mpif.h'
#endif
    integer :: length, datatype, error
    integer :: a(length), b(length)
#endif
    b = a + b
    call message('send', 0, proc_null, 1)
    call MPI_Send(length, 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
    if (length < 0) print *, datatype
end subroutine

program every_group
#if defined MPI_F08
    use mpi_f08
#elif defined MPI_MODULE
    use mpi
#endif
    use tallies
    implicit none
#if defined MPIF_H
    include 'mpif.h'
#endif
#if defined MPI_F08
    procedure(MPI_User_function) :: add
#else
    external :: add
#endif
    integer, parameter :: ranks = 4
    integer :: rank, size, left, right, error, i, n, index, done
    logical :: flag
    double precision, asynchronous :: in(256), out(256)
    integer, asynchronous :: from(64), to(64)
    integer :: counts(ranks), places(ranks), twos(ranks), byte_places(ranks), sum
    STATUS_T :: status SHAPE
    HANDLE(MPI_Request) :: request, both(2)

    in = 0
    out = 1
    from = 2
    to = 0
    call MPI_Init(error)
    call plain('init', 'other', '-1')
    call local('comm_rank', 'communicator', '0')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call local('comm_size', 'communicator', '0')
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    if (size /= ranks) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)

    call connect
    call blocking_messages
    call started_messages
    call persistent_messages
    call probes
    call completions
    call blocking_collectives
    call started_collectives
    call communicators
    call neighbours
    call windows
    call files
    call datatypes

    call plain('finalize', 'other', '-1')
    call tally_fortran_leave(rank, ranks)
    call MPI_Finalize(error)

contains

    subroutine barrier
        call collective('barrier', 0, none, '0')
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end subroutine

    subroutine receive(count, source, tag)
        integer, intent(in) :: count, source, tag
        call message('recv', count * reals, source, tag)
        call MPI_Recv(in, count, MPI_DOUBLE_PRECISION, source, tag, MPI_COMM_WORLD, &
            MPI_STATUS_IGNORE, error)
    end subroutine

    ! The connections between all ranks, one by one (tally_connect of tally.h tells why).
    subroutine connect
        integer :: low, high, peer
        do low = 0, ranks - 1
            do high = low + 1, ranks - 1
                if (rank /= low .and. rank /= high) cycle
                peer = low + high - rank
                call message('send', 0, peer, 0)
                if (rank == low) call MPI_Send(out, 0, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, error)
                call message('recv', 0, peer, 0)
                call MPI_Recv(in, 0, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
                if (rank == high) call MPI_Send(out, 0, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, error)
            end do
        end do
    end subroutine

    subroutine blocking_messages
        do i = 1, 5
            call message('sendrecv', 6 * reals, right, 6)
            call MPI_Sendrecv(out, 6, MPI_DOUBLE_PRECISION, right, 6, in, 9, MPI_DOUBLE_PRECISION, &
                left, 6, MPI_COMM_WORLD, status, error)
        end do
        call local('get_count', 'other', '-1')
        call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, error)
        call message('sendrecv_replace', 4 * reals, right, 7)
        call MPI_Sendrecv_replace(out, 4, MPI_DOUBLE_PRECISION, right, 7, left, 7, MPI_COMM_WORLD, &
            MPI_STATUS_IGNORE, error)
        if (modulo(rank, 2) == 1) call receive(3, left, 2)
        call message('ssend', 3 * reals, right, 2)
        call MPI_Ssend(out, 3, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, error)
        if (modulo(rank, 2) == 0) call receive(3, left, 2)
        call message('send', 8 * reals, proc_null, 5)
        call MPI_Send(out, 8, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 5, MPI_COMM_WORLD, error)
        if (modulo(rank, 2) == 1) then
            call message('recv', 20 * reals, any, any)
            call MPI_Recv(in, 20, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                MPI_COMM_WORLD, status, error)
        else
            call message('send', 7 * reals, right, 4)
            call MPI_Send(out, 7, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, error)
        end if
        ! Every second element: what is sent is five of them.
        if (modulo(rank, 2) == 1) call receive(5, left, 8)
        call message('send', 5 * reals, right, 8)
#if defined MPI_F08
        call MPI_Send(out(1:10:2), 5, MPI_DOUBLE_PRECISION, right, 8, MPI_COMM_WORLD, error)
#else
        call MPI_Send(out(1:5), 5, MPI_DOUBLE_PRECISION, right, 8, MPI_COMM_WORLD, error)
#endif
        if (modulo(rank, 2) == 0) call receive(5, left, 8)
    end subroutine

    subroutine started_messages
        call message('irecv', 12 * reals, left, 30)
        call MPI_Irecv(in, 12, MPI_DOUBLE_PRECISION, left, 30, MPI_COMM_WORLD, request, error)
        call message('isend', 11 * reals, right, 30)
        call MPI_Isend(out, 11, MPI_DOUBLE_PRECISION, right, 30, MPI_COMM_WORLD, both(1), error)
        call waited(12 * reals, left, 30, 'irecv')
        call MPI_Wait(request, status, error)
        call waited(11 * reals, right, 30, 'isend')
        call MPI_Wait(both(1), MPI_STATUS_IGNORE, error)
        call message('irecv', 2 * reals, left, 31)
        call MPI_Irecv(in, 2, MPI_DOUBLE_PRECISION, left, 31, MPI_COMM_WORLD, request, error)
        call message('issend', 2 * reals, right, 31)
        call MPI_Issend(out, 2, MPI_DOUBLE_PRECISION, right, 31, MPI_COMM_WORLD, both(1), error)
        call waited(2 * reals, left, 31, 'irecv')
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call waited(2 * reals, right, 31, 'issend')
        call MPI_Wait(both(1), MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine persistent_messages
        call message('recv_init', 4 * reals, left, 40)
        call MPI_Recv_init(in, 4, MPI_DOUBLE_PRECISION, left, 40, MPI_COMM_WORLD, both(1), error)
        call message('send_init', 3 * reals, right, 40)
        call MPI_Send_init(out, 3, MPI_DOUBLE_PRECISION, right, 40, MPI_COMM_WORLD, both(2), error)
        call requests('start', 'point-to-point', 4 * reals, left, 40, '0', 'recv_init')
        call MPI_Start(both(1), error)
        call requests('start', 'point-to-point', 3 * reals, right, 40, '0', 'send_init')
        call MPI_Start(both(2), error)
        call requests('waitall', 'wait', 7 * reals, none, 40, '0', 'mixed')
        call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, error)
        call requests('startall', 'point-to-point', 7 * reals, none, 40, '0', 'mixed')
        call MPI_Startall(2, both, error)
        call requests('waitall', 'wait', 7 * reals, none, 40, '0', 'mixed')
        call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, error)
        call requests('request_free', 'other', 4 * reals, left, 40, '0', 'recv_init')
        call MPI_Request_free(both(1), error)
        call requests('request_free', 'other', 3 * reals, right, 40, '0', 'send_init')
        call MPI_Request_free(both(2), error)
    end subroutine

    subroutine send_small(tag)
        integer, intent(in) :: tag
        call message('send', ints, right, tag)
        call MPI_Send(from, 1, MPI_INTEGER, right, tag, MPI_COMM_WORLD, error)
    end subroutine

    subroutine probes
        HANDLE(MPI_Message) :: matched
        call send_small(50)
        call message('probe', none, left, 50)
        call MPI_Probe(left, 50, MPI_COMM_WORLD, status, error)
        call message('recv', ints, left, 50)
        call MPI_Recv(to, 1, MPI_INTEGER, left, 50, MPI_COMM_WORLD, status, error)
        call send_small(51)
        flag = .false.
        do while (.not. flag)
            call MPI_Iprobe(left, 51, MPI_COMM_WORLD, flag, status, error)
            call call_as('call', 'iprobe', trim(merge('point-to-point', 'poll          ', flag)), &
                none, left, none, 51, '0')
        end do
        call message('mprobe', none, left, 51)
        call MPI_Mprobe(left, 51, MPI_COMM_WORLD, matched, status, error)
        call call_as('call', 'mrecv', 'point-to-point', ints, none, none, none, '-1')
        call MPI_Mrecv(to, 1, MPI_INTEGER, matched, status, error)
    end subroutine

    ! Posts two receives of one integer, and sends what they wait for.
    subroutine two_receives(tag)
        integer, intent(in) :: tag
        do i = 1, 2
            call message('irecv', ints, left, tag)
            call MPI_Irecv(to(i), 1, MPI_INTEGER, left, tag, MPI_COMM_WORLD, both(i), error)
        end do
        call send_small(tag)
        call send_small(tag)
    end subroutine

    subroutine tally_finished(operation, count, tag)
        character(*), intent(in) :: operation
        integer, intent(in) :: count, tag
        if (count > 0) then
            call requests(operation, 'wait', count * ints, left, tag, '0', 'irecv')
        else
            call requests(operation, 'poll', none, none, none, '-1', 'unknown')
        end if
    end subroutine

    subroutine completions
        integer :: indices(2)
        call two_receives(60)
        done = 0
        do while (done < 2)
            call MPI_Waitany(2, both, index, MPI_STATUS_IGNORE, error)
            call tally_finished('waitany', 1, 60)
            done = done + 1
        end do
        call two_receives(61)
        done = 0
        do while (done < 2)
            call MPI_Waitsome(2, both, n, indices, MPI_STATUSES_IGNORE, error)
            call tally_finished('waitsome', n, 61)
            done = done + n
        end do
        call two_receives(62)
        do i = 1, 2
            flag = .false.
            do while (.not. flag)
                call MPI_Test(both(i), flag, status, error)
                call requests('test', merge('wait', 'poll', flag), ints, left, 62, '0', 'irecv')
            end do
        end do
        call two_receives(63)
        flag = .false.
        do while (.not. flag)
            call MPI_Testall(2, both, flag, MPI_STATUSES_IGNORE, error)
            call tally_finished('testall', merge(2, 0, flag), 63)
        end do
        call two_receives(64)
        done = 0
        do while (done < 2)
            call MPI_Testany(2, both, index, flag, MPI_STATUS_IGNORE, error)
            call tally_finished('testany', merge(1, 0, flag), 64)
            if (flag) done = done + 1
        end do
        call two_receives(65)
        done = 0
        do while (done < 2)
            call MPI_Testsome(2, both, n, indices, MPI_STATUSES_IGNORE, error)
            call tally_finished('testsome', n, 65)
            done = done + n
        end do
        call message('irecv', ints, left, 66)
        call MPI_Irecv(to, 1, MPI_INTEGER, left, 66, MPI_COMM_WORLD, request, error)
        call requests('cancel', 'other', ints, left, 66, '0', 'irecv')
        call MPI_Cancel(request, error)
        call waited(ints, left, 66, 'irecv')
        call MPI_Wait(request, status, error)
        call local('test_cancelled', 'other', '-1')
        call MPI_Test_cancelled(status, flag, error)
    end subroutine

    subroutine prepare_collectives
        sum = 0
        do i = 1, ranks
            counts(i) = i
            places(i) = sum
            twos(i) = 2 * (i - 1)
            byte_places(i) = 2 * (i - 1) * ints
            sum = sum + counts(i)
        end do
    end subroutine

    subroutine blocking_collectives
        HANDLE(MPI_Op) :: op
        integer :: equal(ranks)
        HANDLE(MPI_Datatype) :: types(ranks)
        call prepare_collectives
        equal = 2
        types = MPI_INTEGER

        call collective('bcast', 3 * reals, 2, '0')
        call MPI_Bcast(out, 3, MPI_DOUBLE_PRECISION, 2, MPI_COMM_WORLD, error)
        call collective('reduce', 5 * reals, 3, '0')
        call MPI_Reduce(out, in, 5, MPI_DOUBLE_PRECISION, MPI_MAX, 3, MPI_COMM_WORLD, error)
        call collective('allreduce', 2 * reals, none, '0')
        call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
            error)
        call collective('gather', 2 * ints, 1, '0')
        call MPI_Gather(from, 2, MPI_INTEGER, to, 2, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
        call collective('gatherv', (rank + 1) * ints, 1, '0')
        call MPI_Gatherv(from, rank + 1, MPI_INTEGER, to, counts, places, MPI_INTEGER, 1, &
            MPI_COMM_WORLD, error)
        call collective('scatter', 2 * ints, 2, '0')
        call MPI_Scatter(from, 2, MPI_INTEGER, to, 2, MPI_INTEGER, 2, MPI_COMM_WORLD, error)
        call collective('scatterv', merge(sum, rank + 1, rank == 2) * ints, 2, '0')
        call MPI_Scatterv(from, counts, places, MPI_INTEGER, to, rank + 1, MPI_INTEGER, 2, &
            MPI_COMM_WORLD, error)
        call collective('allgather', 2 * ints, none, '0')
        call MPI_Allgather(from, 2, MPI_INTEGER, to, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
        call collective('allgatherv', (rank + 1) * ints, none, '0')
        call MPI_Allgatherv(from, rank + 1, MPI_INTEGER, to, counts, places, MPI_INTEGER, &
            MPI_COMM_WORLD, error)
        call collective('alltoall', 2 * ints, none, '0')
        call MPI_Alltoall(from, 2, MPI_INTEGER, to, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
        call collective('alltoallv', 8 * ints, none, '0')
        call MPI_Alltoallv(from, equal, twos, MPI_INTEGER, to, equal, twos, MPI_INTEGER, &
            MPI_COMM_WORLD, error)
        call collective('alltoallw', 8 * ints, none, '0')
        call MPI_Alltoallw(from, equal, byte_places, types, to, equal, byte_places, types, &
            MPI_COMM_WORLD, error)
        call collective('reduce_scatter', sum * ints, none, '0')
        call MPI_Reduce_scatter(from, to, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call collective('reduce_scatter_block', 2 * ints, none, '0')
        call MPI_Reduce_scatter_block(from, to, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call collective('scan', 4 * ints, none, '0')
        call MPI_Scan(from, to, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call collective('exscan', 5 * ints, none, '0')
        call MPI_Exscan(from, to, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)

        call local('op_create', 'other', '-1')
        call MPI_Op_create(add, .true., op, error)
        call collective('allreduce', 3 * ints, none, '0')
        call MPI_Allreduce(from, to, 3, MPI_INTEGER, op, MPI_COMM_WORLD, error)
        call local('op_free', 'other', '-1')
        call MPI_Op_free(op, error)
    end subroutine

    subroutine finish(operation, bytes)
        character(*), intent(in) :: operation
        integer, intent(in) :: bytes
        call requests('wait', 'wait', bytes, none, none, '0', operation)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine started_collectives
        integer, asynchronous :: equal(ranks)
        HANDLE(MPI_Datatype), asynchronous :: types(ranks)
        equal = 2
        types = MPI_INTEGER

        call collective('ibarrier', 0, none, '0')
        call MPI_Ibarrier(MPI_COMM_WORLD, request, error)
        call finish('ibarrier', 0)
        call collective('ibcast', 3 * reals, 1, '0')
        call MPI_Ibcast(out, 3, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, request, error)
        call finish('ibcast', 3 * reals)
        call collective('iallreduce', reals, none, '0')
        call MPI_Iallreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, &
            error)
        call finish('iallreduce', reals)
        call collective('igatherv', (rank + 1) * ints, 1, '0')
        call MPI_Igatherv(from, rank + 1, MPI_INTEGER, to, counts, places, MPI_INTEGER, 1, &
            MPI_COMM_WORLD, request, error)
        call finish('igatherv', (rank + 1) * ints)
        n = merge(sum, rank + 1, rank == 2) * ints
        call collective('iscatterv', n, 2, '0')
        call MPI_Iscatterv(from, counts, places, MPI_INTEGER, to, rank + 1, MPI_INTEGER, 2, &
            MPI_COMM_WORLD, request, error)
        call finish('iscatterv', n)
        call collective('iallgatherv', (rank + 1) * ints, none, '0')
        call MPI_Iallgatherv(from, rank + 1, MPI_INTEGER, to, counts, places, MPI_INTEGER, &
            MPI_COMM_WORLD, request, error)
        call finish('iallgatherv', (rank + 1) * ints)
        call collective('ialltoallv', 8 * ints, none, '0')
        call MPI_Ialltoallv(from, equal, twos, MPI_INTEGER, to, equal, twos, MPI_INTEGER, &
            MPI_COMM_WORLD, request, error)
        call finish('ialltoallv', 8 * ints)
        call collective('ialltoallw', 8 * ints, none, '0')
        call MPI_Ialltoallw(from, equal, byte_places, types, to, equal, byte_places, types, &
            MPI_COMM_WORLD, request, error)
        call finish('ialltoallw', 8 * ints)
        call collective('ireduce_scatter', sum * ints, none, '0')
        call MPI_Ireduce_scatter(from, to, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, &
            error)
        call finish('ireduce_scatter', sum * ints)
    end subroutine

    subroutine free_communicator(comm, name)
        HANDLE(MPI_Comm), intent(inout) :: comm
        character(*), intent(in) :: name
        call plain('comm_free', 'communicator', name)
        call MPI_Comm_free(comm, error)
    end subroutine

    subroutine use_communicator(comm, name, parent, members)
        HANDLE(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: name, parent, members
        call communicator(name, 'intra', parent, members)
        call collective('barrier', 0, none, name)
        call MPI_Barrier(comm, error)
    end subroutine

    subroutine communicators
        HANDLE(MPI_Comm) :: copy, half, between, joined, pair
        HANDLE(MPI_Group) :: world, two
        character(5) :: mine
        character(3) :: members
        mine = merge('@even', '@odd ', modulo(rank, 2) == 0)
        members = merge('0 2', '1 3', modulo(rank, 2) == 0)

        call plain('comm_dup', 'communicator', '0')
        call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
        call use_communicator(copy, '@copy', '0', '0 1 2 3')
        call plain('comm_split', 'communicator', '@copy')
        call MPI_Comm_split(copy, modulo(rank, 2), rank, half, error)
        call use_communicator(half, trim(mine), '@copy', members)
        call call_as('call', 'intercomm_create', 'communicator', none, none, none, 70, trim(mine))
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - modulo(rank, 2), 70, between, error)
        call communicator('@between', 'inter', '-1', '0 2|1 3')
        call plain('intercomm_merge', 'communicator', '@between')
        call MPI_Intercomm_merge(between, modulo(rank, 2) == 1, joined, error)
        call use_communicator(joined, '@joined', '@between', '0 2 1 3')
        call free_communicator(joined, '@joined')
        call free_communicator(between, '@between')

        call local('comm_group', 'communicator', '0')
        call MPI_Comm_group(MPI_COMM_WORLD, world, error)
        call local('group_incl', 'communicator', '-1')
        call MPI_Group_incl(world, 2, [2, 1], two, error)
        if (rank == 1 .or. rank == 2) then
            call call_as('call', 'comm_create_group', 'communicator', none, none, none, 71, '0')
            call MPI_Comm_create_group(MPI_COMM_WORLD, two, 71, pair, error)
            call use_communicator(pair, '@pair', '0', '2 1')
            call free_communicator(pair, '@pair')
        end if
        call local('group_free', 'communicator', '-1')
        call MPI_Group_free(two, error)
        call local('group_free', 'communicator', '-1')
        call MPI_Group_free(world, error)
        call free_communicator(half, trim(mine))
        call free_communicator(copy, '@copy')
    end subroutine

    subroutine neighbours
        HANDLE(MPI_Comm) :: ring
        integer :: expected(2), at(2)
        expected = 3
        at = [0, 8]
        call plain('cart_create', 'topology', '0')
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, error)
        call communicator('@ring', 'intra', '0', '0 1 2 3')
        call local('cart_shift', 'topology', '@ring')
        call MPI_Cart_shift(ring, 0, 1, i, n, error)
        call collective('neighbor_allgather', 2 * ints, none, '@ring')
        call MPI_Neighbor_allgather(from, 2, MPI_INTEGER, to, 2, MPI_INTEGER, ring, error)
        call collective('neighbor_allgatherv', 3 * ints, none, '@ring')
        call MPI_Neighbor_allgatherv(from, 3, MPI_INTEGER, to, expected, at, MPI_INTEGER, ring, &
            error)
        call collective('neighbor_alltoallv', 6 * ints, none, '@ring')
        call MPI_Neighbor_alltoallv(from, expected, at, MPI_INTEGER, to, expected, at, &
            MPI_INTEGER, ring, error)
        call free_communicator(ring, '@ring')
    end subroutine

    subroutine one_sided(operation, bytes, peer)
        character(*), intent(in) :: operation
        integer, intent(in) :: bytes, peer
        call call_as('call', operation, 'one-sided', bytes, peer, none, none, '0')
    end subroutine

    subroutine windows
        HANDLE(MPI_Win) :: win
        integer(MPI_ADDRESS_KIND) :: size, at
        double precision, asynchronous :: memory(64)
        memory = 0
        size = 64 * reals
        at = 0
        call plain('win_create', 'one-sided', '0')
        call MPI_Win_create(memory, size, reals, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
        call one_sided('win_fence', none, none)
        call MPI_Win_fence(0, win, error)
        call one_sided('put', 3 * reals, right)
        call MPI_Put(out, 3, MPI_DOUBLE_PRECISION, right, at, 3, MPI_DOUBLE_PRECISION, win, error)
        call one_sided('win_fence', none, none)
        call MPI_Win_fence(0, win, error)
        call one_sided('get', 2 * reals, left)
        call MPI_Get(in, 2, MPI_DOUBLE_PRECISION, left, at, 2, MPI_DOUBLE_PRECISION, win, error)
        call one_sided('win_fence', none, none)
        call MPI_Win_fence(0, win, error)
        call one_sided('win_lock', none, right)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, error)
        call one_sided('accumulate', 4 * reals, right)
        call MPI_Accumulate(out, 4, MPI_DOUBLE_PRECISION, right, at, 4, MPI_DOUBLE_PRECISION, &
            MPI_SUM, win, error)
        call one_sided('win_unlock', none, right)
        call MPI_Win_unlock(right, win, error)
        call one_sided('win_free', none, none)
        call MPI_Win_free(win, error)
    end subroutine

    subroutine io(operation, bytes)
        character(*), intent(in) :: operation
        integer, intent(in) :: bytes
        call call_as('call', operation, 'io', bytes, none, none, none, '0')
    end subroutine

    subroutine files
        HANDLE(MPI_File) :: file
        integer(MPI_OFFSET_KIND) :: at
        at = rank * 16 * reals
        call plain('file_open', 'io', '0')
        call MPI_File_open(MPI_COMM_WORLD, 'data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
            file, error)
        call io('file_write_at', 2 * reals)
        call MPI_File_write_at(file, at, out, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
        call io('file_write_at_all', 3 * reals)
        call MPI_File_write_at_all(file, at, out, 3, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
        call io('file_iread_at', 2 * reals)
        call MPI_File_iread_at(file, at, in, 2, MPI_DOUBLE_PRECISION, request, error)
        call requests('wait', 'wait', 2 * reals, none, none, '0', 'file_iread_at')
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call io('file_close', none)
        call MPI_File_close(file, error)
        call barrier
        if (rank == 0) then
            call plain('file_delete', 'io', '-1')
            call MPI_File_delete('data', MPI_INFO_NULL, error)
        end if
    end subroutine

    subroutine datatypes
        HANDLE(MPI_Datatype) :: column
        call local('type_size', 'other', '-1')
        call MPI_Type_size(MPI_DOUBLE_PRECISION, n, error)
        call local('type_vector', 'other', '-1')
        call MPI_Type_vector(3, 2, 5, MPI_DOUBLE_PRECISION, column, error)
        call local('type_commit', 'other', '-1')
        call MPI_Type_commit(column, error)
        call message('sendrecv', 6 * reals, right, 80)
        call MPI_Sendrecv(out, 1, column, right, 80, in, 6, MPI_DOUBLE_PRECISION, left, 80, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call local('type_free', 'other', '-1')
        call MPI_Type_free(column, error)
    end subroutine
end program
