# SPDX-License-Identifier: BSD-3-Clause
"""The worst of many calls, as the program sees them."""
import os

import runs

CALLS = runs.pick(1000000, 10000000)


def report(preload, programs):
    print(f"\nthe worst of {CALLS:,} calls of MPI_Send, us: median and best of the runs; "
          "undisturbed: but for calls in which\n"
          "the scheduler took the processor away\n"
          f"  {'':<26}{'p99.99':>18}{'max, undisturbed':>20}{'max':>22}")
    for program in programs:
        results = runs.interleaved(preload, [program, CALLS])
        for kind, of_kind in zip(("bare", "traced"), results):
            middle, best = runs.middle(of_kind), runs.best(of_kind)
            cells = [f"{middle[name] / 1000:.1f} {best[name] / 1000:.1f}"
                     for name in ("p99.99", "undisturbed", "max")]
            print(f"  {os.path.basename(program):<19}{kind:<7}{cells[0]:>18}{cells[1]:>20}"
                  f"{cells[2]:>22}")
