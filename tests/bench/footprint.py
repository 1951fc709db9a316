# SPDX-License-Identifier: BSD-3-Clause
"""What a rank, and a process without MPI, pay beside the calls: time to start, and memory."""
import os
import statistics
import time

import runs

STARTS = runs.pick(5, 41)
TRUE_STARTS = runs.pick(50, 500)


def start_true(environment):
    """Milliseconds from the start of a process that does nothing to its end."""
    begin = time.monotonic_ns()
    pid = os.posix_spawn("/bin/true", ["true"], {**os.environ, **environment})
    os.waitpid(pid, 0)
    return (time.monotonic_ns() - begin) / 1e6


def report(preload, folder, mpis):
    print("\nwhat a process takes: medians without and with the library\n"
          f"  {'':<46}{'bare':>9}{'traced':>9}{'more':>9}")
    for mpi in mpis:
        program = os.path.join(folder, f"footprint.{mpi}")
        results = runs.interleaved(preload, lambda p=program: [p, time.monotonic_ns()], STARTS)
        bare, traced = map(runs.middle, results)
        line(f"{mpi}: start to end of MPI_Init, ms", bare["init-ms"], traced["init-ms"], 2)
        line(f"{mpi}: resident but for the trace, KiB", bare["own-kib"], traced["own-kib"], 0)
        line(f"{mpi}: resident of the trace, KiB", bare["trace-kib"], traced["trace-kib"], 0)
    bare, traced = [], []
    with runs.tracing(preload) as (environment, _):
        for _ in range(TRUE_STARTS):
            bare.append(start_true({}))
            traced.append(start_true(environment))
    line("/bin/true: start to end, ms", statistics.median(bare), statistics.median(traced), 3)


def line(what, bare, traced, digits):
    print(f"  {what:<46}{bare:>9.{digits}f}{traced:>9.{digits}f}{traced - bare:>9.{digits}f}")
