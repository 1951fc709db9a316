# SPDX-License-Identifier: BSD-3-Clause
"""Calls MPI through functions that it looks up by name in the library it opened.

Usage: by_handle.py LIBRARY
"""
import collections
import ctypes
import os
import sys
import time

tally = collections.Counter()


def constants(library):
    """MPI_COMM_WORLD, MPI_INT and MPI_STATUS_IGNORE of either family."""
    if hasattr(library, "ompi_mpi_comm_world"):
        world, integer = (
            ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, name)))
            for name in ("ompi_mpi_comm_world", "ompi_mpi_int")
        )
        return world, integer, None
    return ctypes.c_int(0x44000000), ctypes.c_int(0x4C000405), ctypes.c_void_p(1)


def count(operation, fields):
    tally[f"mpi:{operation} {fields}"] += 1


def leave(rank, size):
    """As tally_leave of tally.h."""
    with open(f"part.{rank}", "w") as file:
        file.writelines(f"call\t{calls}\t{label}\n" for label, calls in tally.items())
    os.rename(f"part.{rank}", f"tally.{rank}")
    while not all(os.path.exists(f"tally.{other}") for other in range(size)):
        time.sleep(0.001)


def main():
    mpi = ctypes.CDLL(sys.argv[1])
    world, integer, ignore = constants(mpi)
    rank, size, value = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()

    mpi.MPI_Init(None, None)
    count("init", "kind=other bytes=-1 peer=-1 root=-1 tag=-1 comm=-1")
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    mpi.MPI_Comm_size(world, ctypes.byref(size))
    other = 1 - rank.value
    for _ in range(10):
        mpi.MPI_Sendrecv_replace(
            ctypes.byref(value), 1, integer, other, 3, other, 3, world, ignore
        )
        count(
            "sendrecv_replace",
            f"kind=point-to-point bytes=4 peer={other} root=-1 tag=3 comm=0",
        )
    mpi.MPI_Barrier(world)
    count("barrier", "kind=collective bytes=0 peer=-1 root=-1 tag=-1 comm=0")
    count("finalize", "kind=other bytes=-1 peer=-1 root=-1 tag=-1 comm=-1")
    leave(rank.value, size.value)
    mpi.MPI_Finalize()


if __name__ == "__main__":
    main()
