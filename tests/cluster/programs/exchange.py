# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: one message of 8 doubles, one broadcast, one sum, one barrier."""
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    request = comm.Isend(array("d", range(8)), dest=1, tag=17)
else:
    received = array("d", [0.0] * 8)
    request = comm.Irecv(received, source=0, tag=17)
request.Wait()
if comm.rank == 1:
    assert received == array("d", range(8))

number = array("i", [comm.rank + 1])
comm.Bcast(number, root=0)
assert number[0] == 1
total = array("i", [0])
comm.Allreduce(number, total)
assert total[0] == 2
comm.Barrier()
