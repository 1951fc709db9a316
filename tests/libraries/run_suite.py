# SPDX-License-Identifier: BSD-3-Clause
"""Runs modules of mpi4py's own test suite and writes what became of each test.

Usage: run_suite.py TESTS OUTPUT MODULE...

TESTS is the directory of the suite. Every rank writes OUTPUT.RANK, a line "RESULT TEST" for each
test in the order in which they ended. A test that failed is no failure of this program.
"""
import sys
import unittest


class Results(unittest.TestResult):
    """Writes each result when it is known, so that a hang shows after which test it came."""

    def __init__(self, file):
        super().__init__()
        self._file = file

    def _write(self, result, test):
        self._file.write(f"{result} {test.id()}\n")
        self._file.flush()

    def addSuccess(self, test):
        self._write("passed", test)

    def addFailure(self, test, err):
        self._write("failed", test)

    def addError(self, test, err):
        self._write("error", test)

    def addSkip(self, test, reason):
        self._write("skipped", test)

    def addExpectedFailure(self, test, err):
        self._write("failed-as-expected", test)

    def addUnexpectedSuccess(self, test):
        self._write("passed-unexpectedly", test)

    def addSubTest(self, test, subtest, err):
        if err:
            self._write("failed", subtest)


def main():
    tests, output, *modules = sys.argv[1:]
    sys.dont_write_bytecode = True
    # The same messages with another kind of array: twice the time, no other call.
    for absent in "cupy", "numba", "numpy":
        sys.modules[absent] = None
    sys.path.insert(0, tests)
    from mpi4py import MPI

    with open(f"{output}.{MPI.COMM_WORLD.Get_rank()}", "w", encoding="utf-8") as file:
        unittest.TestLoader().loadTestsFromNames(modules).run(Results(file))


if __name__ == "__main__":
    main()
