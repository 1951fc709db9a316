# SPDX-License-Identifier: BSD-3-Clause
"""What is added to a call: time, and instructions."""
import os
import re
import shutil
import subprocess
import tempfile

import runs

ATTEMPTS = 4  # times as many rounds at most, to have enough that nobody disturbed

COUNTED = 1000  # as call_cost.c has it
KINDS = {"send_null": "send", "request_null": "isend+wait", "iprobe": "iprobe", "test": "test"}


def report(preload, program):
    """Two tables: one thread, and four."""
    name = os.path.basename(program)
    instructions = count(preload, program)
    for arguments, title in (([], name), (["threads"], f"{name}, 4 threads")):
        table(title, *measure(preload, [program, *arguments]), instructions)


def measure(preload, command):
    """Results of bare and traced runs, until there are enough of each that had their core alone."""
    bare, traced = runs.interleaved(preload, command)
    for _ in range(runs.ROUNDS * (ATTEMPTS - 1)):
        if all(len(alone(results, bare + traced)) >= runs.ROUNDS for results in (bare, traced)):
            break
        for results, more in zip((bare, traced), runs.interleaved(preload, command, 1)):
            results += more
    return bare, traced


def alone(results, everything):
    """Those whose core did its work about as fast as in any run."""
    limit = 1.15 * min(result["core"] for result in everything)
    return [result for result in results if result["core"] <= limit]


def table(title, bare, traced, instructions):
    quiet = [alone(results, bare + traced) for results in (bare, traced)]
    chosen = [some or results for some, results in zip(quiet, (bare, traced))]
    middle, everything = [[runs.middle(results) for results in pair]
                          for pair in (chosen, (bare, traced))]
    print(f"\n{title}: added to a call, medians; two clock reads {middle[0]['clocks']:.1f} ns; of "
          f"{len(bare)} runs without and\nwith the library {len(quiet[0])} and {len(quiet[1])} "
          "shared their core with nobody\n"
          f"  {'call':<16}{'bare ns':>9}{'traced ns':>11}{'added ns':>10}{'/ two reads':>13}"
          f"{'(all runs)':>12}" + (f"{'instructions':>20}" if instructions else ""))
    for call in bare[0]:
        if f"{call}/clocks" not in bare[0]:
            continue
        each = call.count("+") + 1  # "isend+wait" is two calls
        added = (middle[1][call] - middle[0][call]) / each
        ratios = [(y[f"{call}/clocks"] - x[f"{call}/clocks"]) / each for x, y in (middle, everything)]
        line = (f"  {call:<16}{middle[0][call]:>9.1f}{middle[1][call]:>11.1f}{added:>10.1f}"
                f"{ratios[0]:>13.2f}{ratios[1]:>12.2f}")
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
