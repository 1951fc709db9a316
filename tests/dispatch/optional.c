/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes MPI as it comes: each function may be missing, and it asks before it calls. */
#include <stdio.h>

#include "tests/dispatch/optional.h"
#include "tests/dispatch/standin.h"

#pragma weak MPI_Init
#pragma weak MPI_Finalize
#pragma weak MPI_Send
#pragma weak MPI_Scan
#pragma weak PMPI_Scan

typedef __typeof__(MPI_Scan) scan_function;

#ifdef OPTIONAL_FIXED
/* In data of a program at a fixed address they may be what the linker took them for. */
enum { REFERENCES = 2 };
#define in_data() 0
#else
/* In pages that are made read-only, and in others. */
static scan_function *const constant[] = {MPI_Scan, PMPI_Scan};
static scan_function *variable[] = {MPI_Scan, PMPI_Scan};
enum { REFERENCES = 6 };

static int count(scan_function *const *functions)
{
    __asm__("" : "+r"(functions)::"memory"); /* the compiler knows nothing of what is there */
    return (functions[0] != NULL) + (functions[1] != NULL);
}

static int in_data(void)
{
    return count(constant) + count(variable);
}
#endif

void optional_ask(const char *who)
{
    int found = (MPI_Scan != NULL) + (PMPI_Scan != NULL) + in_data();
    const char *said = found == 0 ? "none" : "in part";
    printf("%s: MPI_Scan %s\n", who, found == REFERENCES ? "there" : said);
}

void optional_init(void)
{
    if (MPI_Init)
        MPI_Init(NULL, NULL);
}

void optional_use(void)
{
    if (MPI_Scan)
        MPI_Scan(NULL, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else if (MPI_Send)
        MPI_Send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
}

void optional_finalize(void)
{
    if (MPI_Finalize)
        MPI_Finalize();
}
