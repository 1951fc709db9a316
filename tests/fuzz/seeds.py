#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""seeds.py OUT RUNDIR...: writes each run directory as an input of the fuzzers (fuzz_input.h), once
more with its traces in a container (schema/trace_container.h), and each trace and container as one
of its own."""

import pathlib
import re
import struct
import sys

GAP = 24  # zeros that are worth a chunk of their own


def chunks(number, data):
    """The bytes of a file as chunks, zeros left out."""
    out = bytearray()
    for match in re.finditer(rb"[^\0](?:.*?(?=\0{%d}|\0*\Z))" % GAP, data, re.DOTALL):
        for at in range(match.start(), match.end(), 65535):
            part = data[at:min(at + 65535, match.end())]
            out += bytes([number]) + at.to_bytes(3, "little")
            out += len(part).to_bytes(2, "little") + part
    return bytes(out) + bytes([number]) + len(data).to_bytes(3, "little") + b"\0\0"


def files(run):
    """Number and bytes of the files of a run directory, as far as inputs have them."""
    names = {name: 6 + i for i, name in enumerate(("job", "exit-node0", "exit-node1", "job-end"))}
    worlds = sorted(path for path in run.iterdir() if path.is_dir())
    for world, first, ranks in zip(worlds, (0, 4), (4, 2)):
        for i, trace in enumerate(sorted(world.iterdir())[:ranks]):
            yield first + i, trace.read_bytes()
    for name, number in names.items():
        if (run / name).is_file():
            yield number, (run / name).read_bytes()


def container(run):
    """The run's traces as a node copies them out of its spool."""
    traces = [trace for trace in sorted(run.glob("*/*.sptrace")) if trace.stat().st_size < 1 << 20]
    out = struct.pack("<8sII", b"sptraces", 1, 16)
    for trace in traces[:2]:
        name = f"{trace.parent.name}/{trace.name}".encode()
        out += struct.pack("<4sIQ", b"SPT1", len(name), trace.stat().st_size)
        out += name + trace.read_bytes()
    return out + struct.pack("<4sIQ", b"SPT0", 0, len(traces[:2]))


def main():
    out = pathlib.Path(sys.argv[1])
    for part in ("merge", "trace", "container"):
        (out / part).mkdir(parents=True, exist_ok=True)
    for run in map(pathlib.Path, sys.argv[2:]):
        whole = b""
        for number, data in files(run):
            if len(data) < 4 << 20:
                whole += chunks(number, data)
            if number < 6 and len(data) < 4 << 20:
                (out / "trace" / f"{run.name}-{number}").write_bytes(chunks(0, data))
        (out / "merge" / run.name).write_bytes(whole)
        (out / "merge" / f"{run.name}-spooled").write_bytes(chunks(10, container(run)))
        (out / "container" / run.name).write_bytes(chunks(0, container(run)))
    announced = struct.pack("<8sII", b"sptraces", 1, 23) + b"/spool/"
    (out / "container" / "announced").write_bytes(chunks(0, announced))


main()
