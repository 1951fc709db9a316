/* SPDX-License-Identifier: BSD-3-Clause */
/* Our picture of an MPI library's binary interface against its own mpi.h and the library itself.
 *
 * What mpi.h can tell is asserted when this is compiled; the rest is told when it runs, as TAP, and
 * without MPI_Init. ABI_HEADER and ABI_CHECKS are given on the command line; the latter holds
 * CHECK(name, type) for the functions of the table that mpi.h declares.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include ABI_HEADER

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
SAME(ABI_ANY_SOURCE, MPI_ANY_SOURCE);
SAME(ABI_PROC_NULL, MPI_PROC_NULL);
SAME(ABI_ROOT, MPI_ROOT);
SAME(ABI_ANY_TAG, MPI_ANY_TAG);
SAME(ABI_UNDEFINED, MPI_UNDEFINED);
SAME(ABI_CART, MPI_CART);
SAME(ABI_GRAPH, MPI_GRAPH);
SAME(ABI_DIST_GRAPH, MPI_DIST_GRAPH);
SAME(ABI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE);
SAME(ABI_ERR_ARG, MPI_ERR_ARG);
SAME(0, MPI_SUCCESS);
SAME(sizeof(struct abi_status), sizeof(MPI_Status));
SAME(offsetof(struct abi_status, MPI_SOURCE), offsetof(MPI_Status, MPI_SOURCE));
SAME(offsetof(struct abi_status, MPI_TAG), offsetof(MPI_Status, MPI_TAG));
SAME(offsetof(struct abi_status, MPI_ERROR), offsetof(MPI_Status, MPI_ERROR));

/* What our own types say; behind mpi.h they are left out of the ABI header. */
#define HANDLE(type, size)                                                                         \
    _Static_assert(sizeof(type) == (size), #type);                                                 \
    _Static_assert(_Alignof(type) == (size), #type)
#ifdef OPEN_MPI
enum { HANDLE_SIZE = sizeof(void *) };
SAME(offsetof(struct abi_status, cancelled), offsetof(MPI_Status, _cancelled));
SAME(offsetof(struct abi_status, count), offsetof(MPI_Status, _ucount));
#else
enum { HANDLE_SIZE = sizeof(int) };
SAME(offsetof(struct abi_status, count_low), offsetof(MPI_Status, count_lo));
SAME(offsetof(struct abi_status, count_high_and_cancelled),
     offsetof(MPI_Status, count_hi_and_cancelled));
SAME(ABI_COMM_WORLD, MPI_COMM_WORLD);
SAME(ABI_COMM_SELF, MPI_COMM_SELF);
SAME(ABI_COMM_NULL, MPI_COMM_NULL);
SAME(ABI_REQUEST_NULL, MPI_REQUEST_NULL);
SAME(ABI_DATATYPE_NULL, MPI_DATATYPE_NULL);
SAME(ABI_NO_OP, MPI_NO_OP);
#define BASIC(type, datatype)                                                                      \
    SAME((int)(datatype)&ABI_DATATYPE_BASIC_MASK, ABI_DATATYPE_BASIC);                             \
    SAME(ABI_DATATYPE_BASIC_SIZE(datatype), sizeof(type))
BASIC(char, MPI_CHAR);
BASIC(short, MPI_SHORT);
BASIC(int, MPI_INT);
BASIC(long, MPI_LONG);
BASIC(float, MPI_FLOAT);
BASIC(double, MPI_DOUBLE);
BASIC(long double, MPI_LONG_DOUBLE);
#endif
HANDLE(MPI_Comm, HANDLE_SIZE);
HANDLE(MPI_Datatype, HANDLE_SIZE);
HANDLE(MPI_Group, HANDLE_SIZE);
HANDLE(MPI_Info, HANDLE_SIZE);
HANDLE(MPI_Message, HANDLE_SIZE);
HANDLE(MPI_Op, HANDLE_SIZE);
HANDLE(MPI_Request, HANDLE_SIZE);
HANDLE(MPI_Win, HANDLE_SIZE);
HANDLE(MPI_Errhandler, HANDLE_SIZE);
HANDLE(MPI_Aint, sizeof(long));
HANDLE(MPI_Count, sizeof(long));
HANDLE(MPI_Offset, sizeof(long));

#define CHECK(name, type)                                                                          \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), __typeof__(type)), #name);       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(P##name), __typeof__(type)), #name);
#include ABI_CHECKS
#undef CHECK

static const char *const names[] = {
#define CHECK(name, type) #name, "P" #name,
#include ABI_CHECKS
#undef CHECK
};

static int count = FIRST_RESULT; /* what the script has told before */

static void result(int good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++count, what);
}

static void *symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static int every_name_is_there(void)
{
    int missing = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (symbol(names[i]))
            continue;
        printf("# missing: %s\n", names[i]);
        missing++;
    }
    return missing == 0;
}

int main(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    result(every_name_is_there(), "the library has each function of the table that mpi.h declares");
    result(ABI_STATUS_IGNORE == MPI_STATUS_IGNORE, "MPI_STATUS_IGNORE");
    result(ABI_IN_PLACE == MPI_IN_PLACE, "MPI_IN_PLACE");
    MPI_Get_library_version(version, &length);
#ifdef OPEN_MPI
    result(symbol(ABI_COMM_WORLD_SYMBOL) == (void *)MPI_COMM_WORLD, "MPI_COMM_WORLD");
    result(symbol(ABI_COMM_SELF_SYMBOL) == (void *)MPI_COMM_SELF, "MPI_COMM_SELF");
    result(symbol(ABI_COMM_NULL_SYMBOL) == (void *)MPI_COMM_NULL, "MPI_COMM_NULL");
    result(symbol(ABI_REQUEST_NULL_SYMBOL) == (void *)MPI_REQUEST_NULL, "MPI_REQUEST_NULL");
    result(symbol(ABI_DATATYPE_NULL_SYMBOL) == (void *)MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
    result(symbol(ABI_NO_OP_SYMBOL) == (void *)MPI_NO_OP, "MPI_NO_OP");
    result(strncmp(version, "Open MPI", 8) == 0, "the version text that the family is known by");
    result(symbol("MPIR_Dup_fn") == NULL, "no marker of MPICH");
#else
    result(symbol("MPIR_Dup_fn") != NULL, "the symbol that the family is known by");
    result(strncmp(version, "MPICH", 5) == 0, "the version text that the family is known by");
    result(symbol("ompi_mpi_comm_world") == NULL, "no marker of Open MPI");
#endif
    printf("1..%d\n", count);
    return 0;
}
