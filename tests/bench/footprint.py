# SPDX-License-Identifier: BSD-3-Clause
"""What a rank, and a process without MPI, pay beside the calls: time to start, and memory."""
import os
import statistics
import time

import runs

STARTS = runs.pick(5, 21)
TRUE_STARTS = runs.pick(50, 500)


def start_true(environment):
    """Milliseconds from the start of a process that does nothing to its end."""
    begin = time.monotonic_ns()
    pid = os.posix_spawn("/bin/true", ["true"], {**os.environ, **environment})
    os.waitpid(pid, 0)
    return (time.monotonic_ns() - begin) / 1e6


def report(preload, folder, mpis):
    print("\nwhat a process takes: medians without and with the library, and of the best runs\n"
          f"  {'':<42}{'bare':>9}{'traced':>9}{'more':>9}{'(best)':>9}")
    for mpi in mpis:
        program = os.path.join(folder, f"footprint.{mpi}")
        bare, traced = runs.interleaved(preload, lambda p=program: [p, time.monotonic_ns()],
                                        STARTS)
        for name, what, digits in (("init-ms", "start to end of MPI_Init, ms", 2),
                                   ("cpu-ms", "of that, on a processor, ms", 2),
                                   ("own-kib", "resident but for the trace, KiB", 0),
                                   ("trace-kib", "resident of the trace, KiB", 0)):
            line(f"{mpi}: {what}", *([result[name] for result in kind] for kind in (bare, traced)),
                 digits)
    bare, traced = [], []
    with runs.tracing(preload) as (environment, _):
        for _ in range(TRUE_STARTS):
            bare.append(start_true({}))
            traced.append(start_true(environment))
    line("/bin/true: start to end, ms", bare, traced, 3)


def line(what, bare, traced, digits):
    middle = [statistics.median(values) for values in (bare, traced)]
    best = min(traced) - min(bare)
    print(f"  {what:<42}{middle[0]:>9.{digits}f}{middle[1]:>9.{digits}f}"
          f"{middle[1] - middle[0]:>9.{digits}f}{best:>9.{digits}f}")
