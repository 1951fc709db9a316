# SPDX-License-Identifier: BSD-3-Clause
"""The table of requests alone, with few and many in flight."""
import tempfile

import runs


def run(program, *arguments):
    """The results with the table in a trace, where it lies in a program that is recorded."""
    with tempfile.TemporaryDirectory(prefix="scope-bench-") as directory:
        return runs.run([program, *arguments, "in", directory])


def report(program):
    print("\nthe table of requests, single calls beside as many that do nothing, best runs\n"
          f"  {'in flight':<21}{'start+finish ns':>16}{'/ two clock reads':>18}"
          f"{'p99.99 us (idle)':>20}{'longest us (idle)':>20}")
    for count in (1, 1000, 1000000):
        for kind in ([], ["one-handle"]):
            results = [run(program, count, *kind) for _ in range(max(3, runs.ROUNDS // 2))]
            middle, best = runs.middle(results), runs.best(results)
            tail, longest = (f"{best[f'call-{name}'] / 1000:.1f} ({best[f'idle-{name}'] / 1000:.1f})"
                             for name in ("9999", "max"))
            print(f"  {', '.join([str(count), *kind]):<21}{middle['pair']:>16.1f}"
                  f"{middle['pair'] / middle['clocks']:>18.2f}{tail:>20}{longest:>20}")
