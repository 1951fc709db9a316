#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What recording costs: run.py PRELOAD FOLDER, where the programs are that tests/bench/local.mk makes.

SP_BENCH_QUICK=1 takes a minute or two instead of ten, SP_BENCH_ROUNDS is how often programs run,
SP_BENCH_CLOCK_SECONDS for how long the clock is looked at, SP_BENCH_PARTS=calls,worst which parts
run instead of all.
"""
import os
import sys

import calls
import clocks
import footprint
import machine
import merging
import request_table
import runs
import sizes
import tools
import worst


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.reconfigure(line_buffering=True)
    preload, folder = map(os.path.abspath, sys.argv[1:])
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    mpis = [mpi for mpi in ("openmpi", "mpich")
            if os.path.exists(os.path.join(folder, f"call_cost.{mpi}"))]
    if not mpis:
        sys.exit("run.py: no MPI to measure with")
    parts = {
        "calls": lambda: [calls.report(preload, os.path.join(folder, f"call_cost.{mpi}"))
                          for mpi in mpis],
        "tools": lambda: [tools.report(preload, folder, mpi) for mpi in mpis],
        "worst": lambda: worst.report(preload, [os.path.join(folder, f"worst_call.{mpi}")
                                                for mpi in mpis]),
        "requests": lambda: request_table.report(os.path.join(folder, "request_cost")),
        "sizes": lambda: sizes.report(preload, folder, mpis, top),
        "footprint": lambda: footprint.report(preload, folder, mpis),
        "clock": lambda: clocks.report(preload, folder, mpis[0]),
        "merging": lambda: merging.report(os.path.join(folder, "..", "..")),
    }
    chosen = os.environ.get("SP_BENCH_PARTS", ",".join(parts)).split(",")
    if set(chosen) - set(parts):
        sys.exit(f"run.py: SP_BENCH_PARTS: the parts are {', '.join(parts)}")
    machine.report(runs.ROUNDS)
    for part in chosen:
        parts[part]()
    print(f"\nat the end: {machine.load()}")


if __name__ == "__main__":
    main()
