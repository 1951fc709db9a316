# SPDX-License-Identifier: BSD-3-Clause
"""What is added to a call: time, and instructions."""
import os
import re
import shutil
import subprocess
import tempfile

import runs

ATTEMPTS = 4  # times as many rounds at most, to have enough runs that tell something
ENOUGH = 0.02  # of a run's batches with their core alone, for a median that says something

COUNTED = 1000  # as call_cost.c has it
KINDS = {"send_null": "send", "request_null": "isend+wait", "iprobe": "iprobe", "test": "test"}


def report(preload, program):
    """Two tables: one thread, and four."""
    name = os.path.basename(program)
    instructions = count(preload, program)
    for arguments, title in (([], name), (["threads"], f"{name}, 4 threads")):
        table(title, *measure(preload, [program, *arguments]), instructions)


def measure(preload, command):
    """Telling results of bare and traced runs, and all of them."""
    everything = runs.interleaved(preload, command)
    for _ in range(runs.ROUNDS * (ATTEMPTS - 1)):
        if all(len(telling(results)) >= runs.ROUNDS for results in everything):
            break
        for results, more in zip(everything, runs.interleaved(preload, command, 1)):
            results += more
    return [telling(results) for results in everything], everything


def telling(results):
    """Those with enough batches that had their core alone."""
    return [result for result in results if result["alone"] >= ENOUGH]


def table(title, quiet, everything, instructions):
    if not all(quiet):
        print(f"\n{title}: of {len(everything[0])} runs none had its core alone for long enough")
        return
    bare, traced = map(runs.middle, quiet)
    bare_of_all, traced_of_all = map(runs.middle, everything)
    print(f"\n{title}: added to a call, medians over batches that had their core alone\n"
          f"({100 * bare['alone']:.0f} and {100 * traced['alone']:.0f} of 100 without and with the "
          f"library); two clock reads {bare['clocks']:.1f} ns\n"
          f"  {'call':<16}{'bare ns':>9}{'traced ns':>11}{'added ns':>10}{'/ two reads':>13}"
          f"{'(of all)':>12}" + (f"{'instructions':>20}" if instructions else ""))
    for call in bare:
        if call == "clocks" or f"{call}/all" not in bare:
            continue
        each = call.count("+") + 1  # "isend+wait" is two calls
        added, added_of_all = ((y[key] - x[key]) / each for x, y, key in
                               ((bare, traced, call),
                                (bare_of_all, traced_of_all, f"{call}/all")))
        line = (f"  {call:<16}{bare[call]:>9.1f}{traced[call]:>11.1f}{added:>10.1f}"
                f"{added / bare['clocks']:>13.2f}"
                f"{added_of_all / bare_of_all['clocks/all']:>12.2f}")
        if call in instructions:
            before, after = (number / each for number in instructions[call])
            line += f"{f'{before:.0f} + {after - before:.0f}':>20}"
        print(line)


def count(preload, program):
    """{call: (instructions bare, traced)}; nothing without valgrind."""
    if not shutil.which("callgrind_annotate"):
        print("\ninstructions are not counted: valgrind is not installed")
        return {}
    bare = count_run(program, {})
    with runs.tracing(preload) as (environment, _):
        traced = count_run(program, environment)
    return {call: (bare[call], traced[call]) for call in bare if call in traced}


def count_run(program, environment):
    with tempfile.TemporaryDirectory(prefix="scope-bench-") as directory:
        out = os.path.join(directory, "callgrind")
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}",
                        program, "count"], check=True, env={**os.environ, **environment},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                              check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    counts = {}
    for function, call in KINDS.items():
        found = re.search(rf"^ *([\d,]+).*:count_{function}\b", text, re.MULTILINE)
        if found:
            counts[call] = int(found.group(1).replace(",", "")) / COUNTED
    return counts
