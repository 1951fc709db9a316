# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers were measured on."""
import os
import re
import subprocess
import tempfile


def value_in(path, key):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = re.match(rf"{key}\s*[:=]\s*(.*)", line)
            if found:
                return found.group(1).strip().strip('"')
    return "unknown"


def version_of(command):
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                              universal_newlines=True).stdout
    except OSError:
        return "not installed"
    found = re.search(r"\d+\.\d+(\.\d+)?", text)
    return found.group(0) if found else "unknown"


def file_system(directory):
    return subprocess.run(["stat", "--file-system", "--format=%T", directory], check=False,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()


def report(rounds):
    model = value_in("/proc/cpuinfo", "model name")
    print(f"{model}, {os.cpu_count()} processors; {value_in('/etc/os-release', 'PRETTY_NAME')}, "
          f"Linux {os.uname().release}\n"
          f"Open MPI {version_of(['mpirun.openmpi', '--version'])}, "
          f"MPICH {version_of(['mpichversion'])}; traces on {file_system(tempfile.gettempdir())}\n"
          f"{rounds} interleaved runs; {load()}")


def load():
    return f"load average {os.getloadavg()[0]:.1f}"
