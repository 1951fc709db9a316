/* SPDX-License-Identifier: BSD-3-Clause */
/* QMPI tools that behave, and some that do not: each says at the end what it saw.
 *
 * With QMPI_TOOL_LOG=FUNCTION each call's way in is told, with QMPI_TOOL_ADDRESS where it was
 * called from, and with QMPI_TOOL_FILE in which library each instance is. With QMPI_TOOL_COUNTS
 * nothing is said, but how often each function was called is written to files, one of each process
 * and instance.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scope_qmpi.h"

#include "preload/mpi_names.h"

#include "preload/qmpi_numbers.h"
#include "preload/qmpi_ways.h"

typedef uintptr_t word;

/* What an instance keeps. */
struct counts {
    const char *name;
    int id;
    unsigned long all, sends, allreduces;
    unsigned long of[FUNCTION_COUNT];
    struct counts *next;
};

static struct counts *every_instance;

static void say(const char *what, int result)
{
    printf("%s: %s\n", what, result == MPI_SUCCESS ? "taken" : "refused");
}

static struct counts *begin(const char *name, int id)
{
    struct counts *counts = calloc(1, sizeof *counts);
    counts->name = name;
    counts->id = id;
    counts->next = every_instance;
    every_instance = counts;
    if (QMPI_Register_tool_storage(id, counts) != MPI_SUCCESS)
        abort();
    Dl_info here;
    if (getenv("QMPI_TOOL_FILE") && dladdr(&every_instance, &here))
        printf("%s is in %s\n", name, here.dli_fname);
    return counts;
}

static void write_counts(const struct counts *counts)
{
    static const char *const names[] = {
#define NAME(function, operation, kind) operation,
        MPI_FUNCTIONS(NAME)
#undef NAME
    };
    char file[64];
    snprintf(file, sizeof file, "counts.%d.%ld", counts->id, (long)getpid());
    FILE *out = fopen(file, "w");
    for (size_t i = 0; out && i < FUNCTION_COUNT; i++) {
        if (counts->of[i])
            fprintf(out, "%s %lu\n", names[i], counts->of[i]);
    }
    if (!out || fclose(out) != 0)
        abort();
}

static void finish(void)
{
    for (const struct counts *counts = every_instance; counts; counts = counts->next) {
        if (getenv("QMPI_TOOL_COUNTS"))
            write_counts(counts);
        else
            printf("%s %d: %lu calls, %lu sends, %lu allreduces\n", counts->name, counts->id,
                   counts->all, counts->sends, counts->allreduces);
    }
}

static struct counts *mine(QMPI_Context context, int id, const char *function)
{
    void *storage, *address;
    Dl_info where;
    if (QMPI_Context_get_storage(context, id, &storage) != MPI_SUCCESS)
        abort();
    struct counts *counts = storage;
    if (counts->id != id)
        abort();
    const char *logged = getenv("QMPI_TOOL_LOG");
    if (logged && strcmp(logged, function) == 0)
        printf("%s %d %s\n", counts->name, id, function);
    if (getenv("QMPI_TOOL_ADDRESS") && QMPI_Get_calling_address(context, &address) == MPI_SUCCESS)
        printf("%s from %s\n", function, dladdr(address, &where) && where.dli_sname
                                              ? where.dli_sname : "nowhere");
    return counts;
}

/* --- one that has every function, by our numbers or by MPICH's -------------------------------- */

static bool numbers_of_mpich;

static unsigned number_of(enum mpi_function function)
{
    if (!numbers_of_mpich)
        return SCOPE_QMPI_FAMILY << 28 | own_numbers[function];
    for (unsigned number = 0; number < sizeof mpich_4_0_2 / sizeof *mpich_4_0_2; number++) {
        if (mpich_4_0_2[number] == function + 1)
            return number;
    }
    return UINT16_MAX;
}

#define WAY(name, count)                                                                           \
    static int all_##name(QMPI_Context context, int id ALSO_WORDS_##count)                         \
    {                                                                                              \
        void (*next)(void);                                                                        \
        int next_id;                                                                               \
        struct counts *counts = mine(context, id, #name);                                          \
        __atomic_add_fetch(&counts->all, 1, __ATOMIC_RELAXED);                                     \
        __atomic_add_fetch(&counts->of[FUNCTION_##name], 1, __ATOMIC_RELAXED);                     \
        QMPI_Get_function(id, number_of(FUNCTION_##name), &next, &next_id);                        \
        return ((int (*)(QMPI_Context, int ALSO_WORDS_##count))next)(                              \
            context, next_id ALSO_PASSED_##count);                                                 \
    }
MPI_WAYS(WAY)
#undef WAY

static void all_register(const char *name, int id, bool mpich)
{
    unsigned refused = 0;
    numbers_of_mpich = mpich;
    begin(name, id);
#define WAY(function, count)                                                                       \
    refused += QMPI_Register_function(id, number_of(FUNCTION_##function),                          \
                                      (void (*)(void))all_##function) != MPI_SUCCESS;
    MPI_WAYS(WAY)
#undef WAY
    if (getenv("QMPI_TOOL_REFUSED"))
        printf("%s: %u refused\n", name, refused);
}

static void all_init(int id)
{
    all_register("all", id, false);
}

static void another_init(int id)
{
    all_register("another", id, false);
}

static void mpich_init(int id)
{
    all_register("mpich", id, true);
}

/* --- one that counts two functions ------------------------------------------------------------ */

static int count_send(QMPI_Context context, int id, const void *buf, int count,
                      MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    struct counts *counts = mine(context, id, "MPI_Send");
    __atomic_add_fetch(&counts->sends, 1, __ATOMIC_RELAXED);
    QMPI_Get_function(id, MPI_SEND_T, &next, &next_id);
    return ((QMPI_Send_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
}

static int count_allreduce(QMPI_Context context, int id, const void *sendbuf, void *recvbuf,
                           int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    struct counts *counts = mine(context, id, "MPI_Allreduce");
    __atomic_add_fetch(&counts->allreduces, 1, __ATOMIC_RELAXED);
    QMPI_Get_function(id, MPI_ALLREDUCE_T, &next, &next_id);
    return ((QMPI_Allreduce_t *)next)(context, next_id, sendbuf, recvbuf, count, datatype, op,
                                      comm);
}

static void two_functions(const char *name, int id)
{
    begin(name, id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))count_send);
    QMPI_Register_tool_function(id, MPI_ALLREDUCE_T, (void (*)(void))count_allreduce);
}

static void first_init(int id)
{
    two_functions("first", id);
}

static void second_init(int id)
{
    two_functions("second", id);
}

/* --- those that do something wrong ------------------------------------------------------------ */

static void nothing_init(int id)
{
    begin("nothing", id);
}

static void wrong_init(int id)
{
    begin("wrong", id);
    say("a number that is no function's",
        QMPI_Register_function(id, (enum QMPI_Functions_enum)123456, (void (*)(void))count_send));
    unsigned others = (SCOPE_QMPI_FAMILY ^ 3) << 28 | own_numbers[FUNCTION_MPI_Send];
    say("a number of another MPI",
        QMPI_Register_function(id, (enum QMPI_Functions_enum)others, (void (*)(void))count_send));
    say("NULL", QMPI_Register_function(id, MPI_SEND_T, NULL));
}

/* One that no tool can have. */
static void excluded_init(int id)
{
    begin("excluded", id);
    say("MPI_Wtime", QMPI_Register_function(id, MPI_WTIME_T, (void (*)(void))count_send));
}

static void alien_init(int id)
{
    void (*next)(void) = NULL;
    int next_id;
    void *storage;
    QMPI_Context none = {NULL};
    begin("alien", id);
    say("another's id", QMPI_Register_function(99, MPI_SEND_T, (void (*)(void))count_send));
    say("storage of another's id", QMPI_Register_tool_storage(-1, NULL));
    say("what to call before all is known", QMPI_Get_function(id, MPI_SEND_T, &next, &next_id));
    say("calling it", ((QMPI_Send_t *)next)(none, next_id, NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    say("the storage of nobody", QMPI_Get_tool_storage(none, 0, &storage));
    say("the address of no call", QMPI_Get_calling_address(none, &storage));
    say("a place that is NULL", QMPI_Get_function(id, MPI_SEND_T, NULL, NULL));
}

/* Registers a function for an instance whose init is over. */
static void meddling_init(int id)
{
    begin("meddling", id);
    if (id > 1)
        say("a function for another instance",
            QMPI_Register_function(id - 1, MPI_SEND_T, (void (*)(void))count_send));
}

/* Waits for a thread that is too early in all it asks for, and calls MPI. */
static void *be_early(void *unused)
{
    void (*next)(void) = NULL;
    int next_id, yes = 0;
    QMPI_Context none = {NULL};
    say("what to call before all is known", QMPI_Get_function(1, MPI_SEND_T, &next, &next_id));
    say("calling it", ((QMPI_Send_t *)next)(none, next_id, NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    say("MPI", MPI_Comm_test_inter(MPI_COMM_WORLD, &yes));
    say("MPI again", MPI_Send(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD));
    return unused;
}

static void early_init(int id)
{
    pthread_t thread;
    struct timespec limit;
    two_functions("early", id);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60; /* where both wait for each other */
    if (pthread_create(&thread, NULL, be_early, NULL) != 0 ||
        pthread_timedjoin_np(thread, NULL, &limit) != 0)
        abort();
}

/* Asks for what follows another's id: there is nothing. */
static int astray_send(QMPI_Context context, int id, const void *buf, int count,
                       MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    (void)id;
    if (QMPI_Get_function(12, MPI_SEND_T, &next, &next_id) == MPI_SUCCESS)
        abort();
    ((QMPI_Send_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
    return MPI_SUCCESS;
}

static void astray_init(int id)
{
    begin("astray", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))astray_send);
}

/* Registers another function and another tool when it is too late. */
static int late_send(QMPI_Context context, int id, const void *buf, int count,
                     MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    static bool once;
    if (!once) {
        once = true;
        say("a function after init",
            QMPI_Register_function(id, MPI_ALLREDUCE_T, (void (*)(void))count_allreduce));
        say("a tool after init", QMPI_Register_tool_name("later", second_init));
    }
    return count_send(context, id, buf, count, datatype, dest, tag, comm);
}

static void late_init(int id)
{
    begin("late", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))late_send);
}

/* Does not call on. */
static int silent_send(QMPI_Context context, int id, const void *buf, int count,
                       MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    (void)buf, (void)count, (void)datatype, (void)dest, (void)tag, (void)comm;
    mine(context, id, "MPI_Send")->sends++;
    return MPI_SUCCESS;
}

static void silent_init(int id)
{
    begin("silent", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))silent_send);
}

/* Calls MPI by its plain names, the function itself among them. */
static int plain_send(QMPI_Context context, int id, const void *buf, int count,
                      MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    (void)context;
    mine(context, id, "MPI_Send")->sends++;
    MPI_Barrier(comm);
    return MPI_Send(buf, count, datatype, dest, tag, comm);
}

static void plain_init(int id)
{
    begin("plain", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))plain_send);
}

/* Calls MPI by its plain name when all is done, for which a jump will do. */
static int after_send(QMPI_Context context, int id, const void *buf, int count,
                      MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    count_send(context, id, buf, count, datatype, dest, tag, comm);
    return MPI_Barrier(comm);
}

static void after_init(int id)
{
    begin("after", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))after_send);
}

/* Has a wrapper in another library. */
static void apart_init(int id)
{
    void *library = dlopen(getenv("QMPI_TOOL_APART"), RTLD_NOW | RTLD_LOCAL);
    void (*wrapper)(void);
    begin("apart", id);
    *(void **)&wrapper = library ? dlsym(library, "apart_send") : NULL;
    QMPI_Register_function(id, MPI_SEND_T, wrapper);
}

/* Asks, in its wrapper, for a function that the program does not call, through QMPI. */
static int asking_send(QMPI_Context context, int id, const void *buf, int count,
                       MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    void (*next)(void);
    int next_id;
    mine(context, id, "MPI_Send")->sends++;
    QMPI_Get_function(id, MPI_BARRIER_T, &next, &next_id);
    ((QMPI_Barrier_t *)next)(context, next_id, comm);
    QMPI_Get_function(id, MPI_SEND_T, &next, &next_id);
    return ((QMPI_Send_t *)next)(context, next_id, buf, count, datatype, dest, tag, comm);
}

static void asking_init(int id)
{
    begin("asking", id);
    QMPI_Register_function(id, MPI_SEND_T, (void (*)(void))asking_send);
}

/* ---------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void announce(void)
{
    static const struct {
        const char *name;
        void (*init)(int id);
    } tools[] = {{"all", all_init},       {"another", another_init}, {"mpich", mpich_init},
                 {"first", first_init},   {"second", second_init},   {"nothing", nothing_init},
                 {"wrong", wrong_init},   {"alien", alien_init},     {"astray", astray_init},
                 {"late", late_init},     {"silent", silent_init},   {"plain", plain_init},
                 {"asking", asking_init}, {"after", after_init},     {"apart", apart_init},
                 {"early", early_init},   {"meddling", meddling_init},
                 {"com,ma", nothing_init},
                 {"excluded", excluded_init}};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (QMPI_Register_tool_name(tools[i].name, tools[i].init) != MPI_SUCCESS)
            abort();
    }
    if (getenv("QMPI_TOOL_NAMES")) {
        say("a name that is taken", QMPI_Register_tool_name("first", second_init));
        say("the recorder's name", QMPI_Register_tool_name("scope", second_init));
        say("no name", QMPI_Register_tool_name("", second_init));
        say("no function", QMPI_Register_tool_name("more", NULL));
    }
}

/* As many tools as there can be, and one more. */
__attribute__((constructor)) static void announce_many(void)
{
    char name[32];
    int taken = 0;
    if (!getenv("QMPI_TOOL_MANY"))
        return;
    do
        snprintf(name, sizeof name, "many-%d", ++taken);
    while (taken < 1000 && QMPI_Register_tool_name(name, nothing_init) == MPI_SUCCESS);
    say(name, QMPI_Register_tool_name(name, nothing_init));
}

__attribute__((destructor)) static void end(void)
{
    finish();
}
