#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What recording costs: run.py PRELOAD REQUEST_COST PROGRAM...

Runs each program by turns without and with the preload library and prints, from the medians of
the interleaved runs, the cost per call bare and traced, and what was added as a multiple of two
reads of the clock in the same runs. Then the table of requests alone: the median of a start and a
finish, and how long single calls take, by the best run, for what the table does is in every one.
"""
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("SP_BENCH_ROUNDS", "7"))
FIXED_PAGES = 3 * 4096 + 256 * 1024  # header, state, slots and statistics of a trace


def run(program, arguments, environment):
    """{name: nanoseconds} of one run."""
    output = subprocess.run([program, *arguments], env={**os.environ, **environment}, check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout
    lines = (line.split() for line in output.splitlines())
    return {name: float(value) for name, value in lines}


def trace_bytes(directory):
    """Bytes of records in all traces below a run directory."""
    return sum(os.path.getsize(os.path.join(folder, name)) - FIXED_PAGES
               for folder, _, names in os.walk(directory)
               for name in names if name.endswith(".sptrace"))


def measure(preload, program, arguments):
    """Medians over the rounds: bare, traced, and bytes per event."""
    bare, traced, sizes = [], [], []
    for _ in range(ROUNDS):
        bare.append(run(program, arguments, {}))
        with tempfile.TemporaryDirectory(prefix="scope-bench-") as directory:
            runs = os.path.join(directory, "run")
            traced.append(run(program, arguments,
                              {"LD_PRELOAD": preload, "SCOPE_PROFILE_RUN": runs}))
            sizes.append(trace_bytes(runs) / traced[-1].pop("events"))
    for result in bare:
        result.pop("events")
    medians = [{name: statistics.median(result[name] for result in results) for name in results[0]}
               for results in (bare, traced)]
    return (*medians, statistics.median(sizes))


def report(title, bare, traced, size):
    clocks = statistics.median([bare.pop("clocks"), traced.pop("clocks")])
    print(f"\n{title}\n  two clock reads {clocks:.1f} ns; {size:.2f} bytes per event")
    print(f"  {'call':<16}{'bare ns':>9}{'traced ns':>11}{'added ns':>10}{'added / two clock reads':>25}")
    for name, before in bare.items():
        calls = name.count("+") + 1  # "isend+wait" is two calls
        added = (traced[name] - before) / calls
        print(f"  {name:<16}{before:>9.1f}{traced[name]:>11.1f}{added:>10.1f}{added / clocks:>25.2f}")


def report_requests(program):
    """How the table of requests does with few and many in flight."""
    print(f"\n{os.path.basename(program)}, single calls beside as many that do nothing")
    print(f"  {'in flight':<21}{'start+finish ns':>16}{'/ two clock reads':>18}"
          f"{'p99.99 us (idle)':>20}{'longest us (idle)':>20}")
    for count in (1, 1000, 1000000):
        for kind in ([], ["one-handle"]):
            results = [run(program, [str(count), *kind], {}) for _ in range(ROUNDS)]
            pair, clocks = (statistics.median(result[name] for result in results)
                            for name in ("pair", "clocks"))
            best = {name: min(result[name] for result in results) / 1000 for name in results[0]}
            tail = f"{best['call-9999']:.1f} ({best['idle-9999']:.1f})"
            longest = f"{best['call-max']:.1f} ({best['idle-max']:.1f})"
            print(f"  {', '.join([str(count), *kind]):<21}{pair:>16.1f}{pair / clocks:>18.2f}"
                  f"{tail:>20}{longest:>20}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    preload, request_cost, programs = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")),
                     "unknown processor")
    print(f"{model}, {os.cpu_count()} processors; medians of {ROUNDS} interleaved runs")
    for program in programs:
        name = os.path.basename(program)
        report(name, *measure(preload, program, []))
        report(f"{name}, 4 threads", *measure(preload, program, ["threads"]))
    report_requests(request_cost)


if __name__ == "__main__":
    main()
