# SPDX-License-Identifier: BSD-3-Clause
"""How far times in a trace are off from CLOCK_MONOTONIC."""
import os

import runs

SECONDS = float(os.environ.get("SP_BENCH_CLOCK_SECONDS", runs.pick("5", "180")))


def report(preload, folder, mpi):
    with runs.tracing(preload) as (environment, directory):
        samples = f"{directory}.samples"
        runs.run([os.path.join(folder, f"clock_samples.{mpi}"), SECONDS, samples], environment)
        trace, = runs.traces(directory)
        result = runs.run([os.path.join(folder, "clock_error"), trace, samples])
    print(f"\nthe clock over {SECONDS:.0f} s, {result['samples']:.0f} samples, ns\n"
          f"  {'':<64}{'p99.9':>8}{'max':>8}")
    for name, what in (("error", "converted ticks against CLOCK_MONOTONIC"),
                       ("reading", "of which may be the time of reading both"),
                       ("proven", "error that reading does not explain")):
        print(f"  {what:<64}{result[f'{name}-99.9']:>8.0f}{result[f'{name}-max']:>8.0f}")
