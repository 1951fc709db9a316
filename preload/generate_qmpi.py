#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes what QMPI tools are hosted with: generate_qmpi.py MAKER MPI_FUNCTIONS QMPI_NUMBERS

MAKER is ways (the functions between a program and its tools), numbers (how tools name functions) or
header (scope_qmpi.h, which tools include).
"""
import re
import sys
import zlib

import generate

WORD = "abcdefghijklmnopqrstuvwxyz"
NUMBER_BITS = 24


def hosted(function):
    """A tool may have it: what passes it on knows all of its arguments."""
    return "variadic" not in function.attributes


def own_number(name):
    """The function's number in scope_qmpi.h, the same in every release."""
    return zlib.crc32(name.encode()) % 2**NUMBER_BITS


def read_numbers(path, functions):
    """[(version of MPICH, {function: its number there})], [functions that tools cannot have]"""
    known = {function.name for function in functions}
    with open(path, encoding="utf-8") as table:
        lines = [line.split() for line in table if line.strip() and not line.startswith("#")]
    (_, *versions), *rows = [line for line in lines if line[0] != "without"]
    without = [name for line in lines if line[0] == "without" for name in line[1:]]
    hosts = {function.name for function in functions if hosted(function)}
    if hosts.intersection(without):
        sys.exit(f"{path}: {', '.join(hosts.intersection(without))}: tools can have it")
    for name, *numbers in rows:
        if name not in known or len(numbers) != len(versions):
            sys.exit(f"{path}: {name}: not in the table of functions, or not a number per version")
    columns = zip(*(numbers for _, *numbers in rows))
    return [(version, {row[0]: int(number) for row, number in zip(rows, column) if number != "-"})
            for version, column in zip(versions, columns)], without


def ways(functions, *_):
    """WAY(function, N) for each that has N arguments, and the lists of N that it needs. An argument
    is a word, whatever its type: all are integers and pointers, which are passed alike."""
    generate.banner()
    functions = [function for function in functions if hosted(function)]
    for count in sorted({len(function.names) for function in functions}):
        words = [f"word {name}" for name in WORD[:count]]
        print(f"#define WORDS_{count} {', '.join(words) or 'void'}")
        print(f"#define ALSO_WORDS_{count} {''.join(', ' + word for word in words)}")
        print(f"#define PASSED_{count} {', '.join(WORD[:count])}")
        print(f"#define ALSO_PASSED_{count} {''.join(', ' + name for name in WORD[:count])}")
    print("#define MPI_WAYS(WAY) \\")
    for function in functions:
        print(f"    WAY({function.name}, {len(function.names)}) \\")
    print()


def numbers(functions, versions, _):
    """The numbers of functions: own_numbers by function, and mpich_VERSION by number."""
    generate.banner()
    own = {}
    print("static const uint32_t own_numbers[FUNCTION_COUNT] = {")
    for function in functions:
        number = own_number(function.name)
        if own.setdefault(number, function.name) != function.name:
            sys.exit(f"{own[number]} and {function.name} have the same number: take more bits")
        if hosted(function):
            print(f"    [FUNCTION_{function.name}] = {number:#x},")
    print("};")
    print("static const bool helps[FUNCTION_COUNT] = {")
    for function in functions:
        if "helps" in function.attributes:
            print(f"    [FUNCTION_{function.name}] = true,")
    print("};")
    tables = {}  # by numbers: several versions may have the same
    for version, of in versions:
        table = f"mpich_{version.replace('.', '_')}"
        if tables.setdefault(tuple(of.items()), table) != table:
            continue
        print(f"static const uint16_t {table}[] = {{")
        for name, number in of.items():
            print(f"    [{number}] = FUNCTION_{name} + 1,")
        print("};")
    print("#define MPICH_VERSIONS(X) \\")
    for version, of in versions:
        print(f'    X("{version}", {tables[tuple(of.items())]}) \\')
    print()


def least_mpi(function):
    """The version of the MPI standard whose mpi.h has the types of the parameters."""
    text = function.declarations
    if re.search(r"MPI_Session|MPI_\w+_function_c\b", text):
        return 4
    return 3 if re.search(r"MPI_(Count|Message)\b", text) else 2


HEADER_HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* QMPI for tools that scope-profile hosts, over any MPI library: see qmpi(7).
 *
 * Where mpi.h has QMPI of its own (MPICH 4), its types are used. The numbers of functions are ours
 * in any case: MPICH's change from one release to the next.
 */
#ifndef SCOPE_QMPI_H
#define SCOPE_QMPI_H

#include <mpi.h>

/* Which kind of MPI library the tool was compiled for is part of each number. A library's own mpi.h
 * may tell a version of the standard ABI too, but has other handles. */
#if defined(OPEN_MPI)
#define SCOPE_QMPI_FAMILY 1
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
#define SCOPE_QMPI_FAMILY 2
#elif defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
#define SCOPE_QMPI_FAMILY 3
#else
#error "scope_qmpi.h: this mpi.h is of no MPI library that tools are hosted on"
#endif

/* In C++ a number of ours is none that MPICH's own enumeration can have. */
#if defined(__cplusplus) && defined(QMPI_MAX_TOOL_NAME_LENGTH)
#define SCOPE_QMPI_NUMBERS_APART 1
#define SCOPE_QMPI_NUMBER(number) ((unsigned)SCOPE_QMPI_FAMILY << 28 | (number))
#else
#define SCOPE_QMPI_NUMBER(number) \\
    ((enum QMPI_Functions_enum)(SCOPE_QMPI_FAMILY << 28 | (number)))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef QMPI_MAX_TOOL_NAME_LENGTH
#define QMPI_MAX_TOOL_NAME_LENGTH 256

enum QMPI_Functions_enum { SCOPE_QMPI_NO_FUNCTION, SCOPE_QMPI_LAST_FUNCTION = 0x7fffffff };

/* To be handed on as it is. */
typedef struct {
    void **storage_stack;
} QMPI_Context;

/* Announces a tool: to be called by a constructor of its library. init is called once for each
 * instance of the tool that the user asked for, with the instance's id, before MPI starts.
 *
 * These and the following return MPI_SUCCESS or an error code; qmpi(7) says when. */
int QMPI_Register_tool_name(const char *tool_name, void (*init_function_ptr)(int tool_id));

/* Both to be called in init: what the instance keeps, and who serves a function for it. */
int QMPI_Register_tool_storage(int tool_id, void *tool_storage);
int QMPI_Register_function(int calling_tool_id, enum QMPI_Functions_enum function_enum,
                           void (*function_ptr)(void));

/* Both to be called in a wrapper: what is to be called next, with which id; and what was kept. */
int QMPI_Get_function(int calling_tool_id, enum QMPI_Functions_enum function_enum,
                      void (**function_ptr)(void), int *next_tool_id);
int QMPI_Get_tool_storage(QMPI_Context context, int tool_id, void **storage);

/* Where the program called MPI. */
int QMPI_Get_calling_address(QMPI_Context context, void **address);
"""

HEADER_MIDDLE = """\
#endif

/* The names that the working group's proposal has for two of them. */
int QMPI_Register_tool_function(int calling_tool_id, enum QMPI_Functions_enum function_enum,
                                void (*function_ptr)(void));
int QMPI_Context_get_storage(QMPI_Context context, int tool_id, void **storage);

#ifdef SCOPE_QMPI_NUMBERS_APART
int scope_qmpi_register_function(int calling_tool_id, unsigned number, void (*function_ptr)(void))
    __asm__("QMPI_Register_function");
int scope_qmpi_get_function(int calling_tool_id, unsigned number, void (**function_ptr)(void),
                            int *next_tool_id) __asm__("QMPI_Get_function");
#endif

#ifdef __cplusplus
}
#endif

#ifdef SCOPE_QMPI_NUMBERS_APART
static inline int QMPI_Register_function(int calling_tool_id, unsigned number,
                                         void (*function_ptr)(void))
{
    return scope_qmpi_register_function(calling_tool_id, number, function_ptr);
}

static inline int QMPI_Register_tool_function(int calling_tool_id, unsigned number,
                                              void (*function_ptr)(void))
{
    return scope_qmpi_register_function(calling_tool_id, number, function_ptr);
}

static inline int QMPI_Get_function(int calling_tool_id, unsigned number,
                                    void (**function_ptr)(void), int *next_tool_id)
{
    return scope_qmpi_get_function(calling_tool_id, number, function_ptr, next_tool_id);
}
#endif
"""


def header(functions, _, without):
    """scope_qmpi.h"""
    functions = [function for function in functions if hosted(function)]
    print(HEADER_HEAD)
    for function in functions:
        least = least_mpi(function)
        if least > 2:
            print(f"#if MPI_VERSION >= {least}")
        parameters = "".join(", " + declaration for declaration, _ in function.parameters)
        name = function.name.replace("MPI_", "QMPI_", 1) + "_t"
        print(f"typedef int({name})(QMPI_Context context, int tool_id{parameters});")
        if least > 2:
            print("#endif")
    print(HEADER_MIDDLE)
    for function in functions:
        number = own_number(function.name)
        print(f"#define {function.name.upper()}_T SCOPE_QMPI_NUMBER({number:#x})")
    print("\n/* Tools cannot have these: to register one is an error, which is told. */")
    for name in without:
        print(f"#define {name.upper()}_T SCOPE_QMPI_NUMBER(0)")
    print("\n#endif")


def main():
    makers = {maker.__name__: maker for maker in (ways, numbers, header)}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    functions, _ = generate.read_table(sys.argv[2])
    makers[sys.argv[1]](functions, *read_numbers(sys.argv[3], functions))


if __name__ == "__main__":
    main()
