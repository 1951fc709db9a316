# SPDX-License-Identifier: BSD-3-Clause
"""What is added to a call: time, and instructions."""
import os
import re
import shutil
import subprocess
import tempfile

import runs

COUNTED = 1000  # as call_cost.c has it
KINDS = {"send_null": "send", "request_null": "isend+wait", "iprobe": "iprobe", "test": "test"}


def report(preload, program):
    """Two tables: one thread, and four."""
    name = os.path.basename(program)
    instructions = count(preload, program)
    for arguments, title in (([], name), (["threads"], f"{name}, 4 threads")):
        table(title, *runs.interleaved(preload, [program, *arguments]), instructions)


def table(title, bare, traced, instructions):
    middle, best = (runs.middle(bare), runs.middle(traced)), (runs.best(bare), runs.best(traced))
    clocks = [min(x["clocks"], y["clocks"]) for x, y in (middle, best)]
    print(f"\n{title}: added to a call, medians; two clock reads {clocks[0]:.1f} ns\n"
          f"  {'call':<16}{'bare ns':>9}{'traced ns':>11}{'added ns':>10}{'/ two reads':>13}"
          f"{'(best run)':>12}" + (f"{'instructions':>20}" if instructions else ""))
    for call in bare[0]:
        if call in ("clocks", "events"):
            continue
        each = call.count("+") + 1  # "isend+wait" is two calls
        added = [(y[call] - x[call]) / each for x, y in (middle, best)]
        line = (f"  {call:<16}{middle[0][call]:>9.1f}{middle[1][call]:>11.1f}{added[0]:>10.1f}"
                f"{added[0] / clocks[0]:>13.2f}{added[1] / clocks[1]:>12.2f}")
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
