# SPDX-License-Identifier: BSD-3-Clause
"""What empty QMPI tools cost: time, and instructions, of a recorded call with 0 to 8 of them."""
import contextlib
import os
import shutil

import calls
import runs

NUMBERS = (0, 1, 2, 4, 8)
CALLS = ("send", "isend+wait", "iprobe")  # the last one is no tool's


def report(preload, folder, mpi):
    program = os.path.join(folder, f"call_cost.{mpi}")
    times = {number: [] for number in NUMBERS}
    for _ in range(runs.ROUNDS):
        for number in NUMBERS:
            with hosting(preload, folder, mpi, number) as environment:
                times[number].append(runs.run([program], environment))
    telling = {number: calls.telling(results) for number, results in times.items()}
    if not all(telling.values()):
        print(f"\n{os.path.basename(program)}: runs with tools had no core alone for long enough")
        return
    middle = {number: runs.middle(results) for number, results in telling.items()}
    print(f"\n{os.path.basename(program)}: ns of a recorded call with so many empty QMPI tools, "
          "medians\n"
          f"  {'call':<16}" + "".join(f"{number:>9}" for number in NUMBERS) + f"{'a tool':>9}")
    for call in CALLS:
        each = call.count("+") + 1
        costs = [middle[number][call] / each for number in NUMBERS]
        slope = (costs[-1] - costs[1]) / (NUMBERS[-1] - NUMBERS[1])
        print(f"  {call:<16}" + "".join(f"{cost:>9.1f}" for cost in costs) + f"{slope:>9.1f}")
    instructions(preload, folder, mpi, program)


@contextlib.contextmanager
def hosting(preload, folder, mpi, number):
    """The environment of a traced run with so many tools."""
    path = os.path.abspath(os.path.join(folder, f"qmpi.{mpi}"))
    tools = {"SCOPE_PROFILE_QMPI_TOOLS": "+".join(["empty"] * number),
             "SCOPE_PROFILE_QMPI_PATH": path} if number else {}
    with runs.tracing(preload) as (environment, _):
        yield {**environment, **tools}


def instructions(preload, folder, mpi, program):
    if not shutil.which("callgrind_annotate"):
        return
    counts = []
    for number in NUMBERS:
        with hosting(preload, folder, mpi, number) as environment:
            counts.append(calls.count_run(program, environment))
    for call in CALLS:
        if all(call in count for count in counts):
            each = call.count("+") + 1
            print(f"  {call + ', instr.':<16}" +
                  "".join(f"{count[call] / each:>9.0f}" for count in counts))
