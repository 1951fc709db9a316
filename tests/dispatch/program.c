/* SPDX-License-Identifier: BSD-3-Clause */
/* program SCENARIO: an MPI program that does one thing, checks what it sees, and says what it did.
 *
 * Calls go to the stand-in library; what should be in the trace is printed as "OPERATION COUNT".
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/dispatch/standin.h"

static int problems;

static void expect(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "program: %s\n", what);
        problems++;
    }
}

static void init(void)
{
    expect(MPI_Init(NULL, NULL) == MPI_SUCCESS, "MPI_Init failed");
}

static void finalize(void)
{
    expect(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize failed");
}

static void send_some(int count)
{
    for (int i = 0; i < count; i++)
        expect(MPI_Send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Send failed");
}

/* --- every function, with arguments of the types that it has ---------------------------------- */

static const struct function {
    const char *name, *type;
    int number;
} functions[] = {
#define CHECK(name, type) {#name, #type, FUNCTION_##name},
#include "preload/mpi_check.h"
#undef CHECK
};

/* Functions that only ask or change something here are recorded on request alone. */
static const bool is_local[FUNCTION_COUNT] = {
#define LOCAL(name, local, ...) [FUNCTION_##name] = (local),
    MPI_FUNCTIONS_LOCAL(LOCAL)
#undef LOCAL
};

enum { ARGUMENTS = 12, BUFFER = 4096, TIMES = 3 };

static char buffers[ARGUMENTS][BUFFER] __attribute__((aligned(64)));

struct arguments {
    uint64_t value[ARGUMENTS];
    bool is_int[ARGUMENTS];
    int count;
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void add_argument(struct arguments *arguments, const char *declaration)
{
    if (strcmp(declaration, "...") == 0)
        return;
    if (begins(declaration, "const int "))
        declaration += strlen("const ");
    int n = arguments->count++;
    bool address = strchr(declaration, '*') || strchr(declaration, '[');
    uint64_t value = 16 * ((uint64_t)n + 1);
    if (address)
        value = (uint64_t)(uintptr_t)buffers[n];
    else if (begins(declaration, "MPI_Comm "))
        value = (uint64_t)(uintptr_t)MPI_COMM_WORLD;
    else if (begins(declaration, "MPI_Datatype "))
        value = (uint64_t)(uintptr_t)MPI_INT;
    else if (begins(declaration, "int "))
        value = (uint64_t)n + 1;
#ifdef STANDIN_OPENMPI
    arguments->is_int[n] = !address && begins(declaration, "int ");
#else
    arguments->is_int[n] = !address;
#endif
    arguments->value[n] = value;
}

static void make_arguments(struct arguments *arguments, const char *type)
{
    char text[1024], *rest = text, *declaration;
    memset(arguments, 0, sizeof *arguments);
    memset(buffers, 0, sizeof buffers);
    snprintf(text, sizeof text, "%s", strchr(type, '(') + 1);
    text[strlen(text) - 1] = '\0';
    while ((declaration = strsep(&rest, ","))) {
        while (isspace((unsigned char)*declaration))
            declaration++;
        if (strcmp(declaration, "void") != 0)
            add_argument(arguments, declaration);
    }
}

static uint64_t arrived(const struct standin *standin, int n)
{
    return n < STANDIN_REGISTERS ? standin->last.general[n] : standin->stack[n - STANDIN_REGISTERS];
}

/* Functions that the stand-in answers itself under their PMPI_ name, unseen. */
static bool is_question(const char *name)
{
    static const char *const names[] = {"PMPI_Cartdim_get",
                                        "PMPI_Comm_c2f",
                                        "PMPI_Comm_group",
                                        "PMPI_Comm_rank",
                                        "PMPI_Comm_remote_size",
                                        "PMPI_Comm_remote_group",
                                        "PMPI_Comm_size",
                                        "PMPI_Comm_test_inter",
                                        "PMPI_Dist_graph_neighbors_count",
                                        "PMPI_Error_class",
                                        "PMPI_Get_library_version",
                                        "PMPI_Graph_neighbors_count",
                                        "PMPI_Group_free",
                                        "PMPI_Group_translate_ranks",
                                        "PMPI_Query_thread",
                                        "PMPI_Test_cancelled",
                                        "PMPI_Topo_test",
                                        "PMPI_Type_size",
                                        "PMPI_Type_size_x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static void call_one(const struct function *function, const char *name)
{
    struct standin *standin = standin_state();
    struct arguments arguments;
    const uint64_t *a = arguments.value;
    int (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                uint64_t, uint64_t, uint64_t, uint64_t);
    int entry = 2 * function->number + (*name == 'P');
    uint64_t before = standin->calls[entry];

    make_arguments(&arguments, function->type);
    *(void **)&call = dlsym(RTLD_DEFAULT, name);
    standin->result = 77;
    standin->error_number = 4321;
    memset(&standin->last, 0, sizeof standin->last);
    errno = 1234;
    int result = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    int error = errno;
    standin->result = standin->error_number = 0;
    if (!is_question(name))
        expect(standin->calls[entry] == before + 1, name);
    if (!standin->last.stack) /* a function that means something to the stand-in */
        return;
    expect(result == 77, "a return value was changed");
    expect(error == 4321, "errno was changed");
    for (int i = 0; i < arguments.count; i++) {
        uint64_t got = arrived(standin, i);
        bool same = arguments.is_int[i] ? (uint32_t)got == (uint32_t)a[i] : got == a[i];
        if (!same)
            fprintf(stderr, "program: %s: argument %d arrived as %#llx\n", name, i + 1,
                    (unsigned long long)got);
        problems += !same;
    }
}

static void call_every(bool with_local)
{
    init();
    standin_state()->found = 1; /* runs of polls are not counted by calls */
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *function = &functions[i];
        char other[128];
        if (function->number <= FUNCTION_MPI_Abort)
            continue;
        snprintf(other, sizeof other, "P%s", function->name);
        for (int times = 0; times < TIMES; times++) {
            call_one(function, function->name);
            call_one(function, other);
        }
        if ((is_local[function->number] && !with_local) ||
            function->number == FUNCTION_MPI_Pcontrol)
            continue; /* MPI_Pcontrol is for tools, and takes no time */
        for (char *p = other; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        printf("%s %d\n", other + strlen("PMPI_"), 2 * TIMES);
    }
    finalize();
}

static void every(void)
{
    call_every(false);
}

static void every_local(void)
{
    call_every(true);
}

/* --- every register, through the bare trampoline ---------------------------------------------- */

static void registers(void)
{
    struct standin *standin = standin_state();
    static const char *const names[] = {"MPI_Sendrecv", "PMPI_Sendrecv", "MPI_Ineighbor_alltoallw"};
    for (int round = 0; round < 6; round++) {
        struct standin_frame frame;
        uint64_t stack[STANDIN_STACK];
        for (size_t i = 0; i < sizeof frame / 8; i++)
            ((uint64_t *)&frame)[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1 + (uint64_t)round);
        for (int i = 0; i < STANDIN_STACK; i++)
            stack[i] = UINT64_C(0xd6e8feb86659fd93) * ((uint64_t)i + 1);
        standin->result = 55 + round;
        errno = 99;
        expect(standin_call(dlsym(RTLD_DEFAULT, names[round % 3]), &frame, stack) == 55 + round,
               "a return value was changed");
        expect(errno == 99, "errno was changed");
        const struct standin_frame *last = &standin->last;
        expect(memcmp(last->general, frame.general, sizeof frame.general) == 0,
               "a general register was changed");
        expect(last->extra == frame.extra, "rax or x8 was changed");
        expect(memcmp(last->vector, frame.vector, sizeof frame.vector) == 0,
               "a vector register was changed");
        expect(memcmp(standin->stack, stack, sizeof stack) == 0, "a stack argument was changed");
    }
    standin->result = 0;
}

/* --- who calls -------------------------------------------------------------------------------- */

/* The library makes its barrier of messages: they are no calls of the program. */
static void internal(void)
{
    struct standin *standin = standin_state();
    init();
    standin->internal = 1;
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        PMPI_Barrier(MPI_COMM_WORLD);
    expect(standin->calls[2 * FUNCTION_MPI_Send] == 14, "the library's own calls are made");
    expect(standin->calls[2 * FUNCTION_MPI_Recv + 1] == 14, "the library's own calls are made");
    send_some(3);
    finalize();
    printf("barrier 14\nsend 3\n");
}

/* It begins with messages of its own, too. */
static void starting(void)
{
    standin_state()->internal = 1;
    init();
    standin_state()->internal = 0;
    send_some(3);
    finalize();
    printf("send 3\n");
}

/* A function of the library that ends in a jump to another one. */
static void jumping(void)
{
    int count;
    init();
    standin_state()->internal = 1;
    for (int i = 0; i < 5; i++)
        MPI_Get_elements(NULL, MPI_INT, &count);
    finalize();
}

static void send_from_callback(void)
{
    send_some(2);
    PMPI_Send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(NULL, NULL, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void callback(void)
{
    init();
    standin_state()->callback = send_from_callback;
    for (int i = 0; i < 5; i++)
        allreduce();
    standin_state()->callback = NULL;
    allreduce();
    finalize();
    printf("allreduce 6\nsend 15\n");
}

/* A callback that calls the very function it is called from. */
static void recurse_once(void)
{
    standin_state()->callback = NULL;
    allreduce();
}

static void recursion(void)
{
    init();
    for (int i = 0; i < 5; i++) {
        standin_state()->callback = recurse_once;
        allreduce();
    }
    finalize();
    printf("allreduce 10\n");
}

static jmp_buf way_out;

static void leave(void)
{
    longjmp(way_out, 1);
}

/* Calls from deeper and deeper in the stack than the call that never came back. */
static void __attribute__((noinline)) dive(int depth)
{
    volatile char room[128];
    room[0] = room[127] = (char)depth;
    send_some(1);
    PMPI_Send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    allreduce();
    PMPI_Allreduce(NULL, NULL, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (depth > 1)
        dive(depth - 1);
    room[1] = room[0];
}

static void longjmp_out(void)
{
    init();
    send_some(1);
    for (int i = 0; i < 3; i++) {
        standin_state()->callback = leave;
        if (setjmp(way_out) == 0)
            allreduce();
        standin_state()->callback = NULL;
        dive(1000);
    }
    standin_state()->internal = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    finalize();
    printf("allreduce 6003\nbarrier 1\nsend 6001\n");
}

/* --- requests --------------------------------------------------------------------------------- */

static void requests(void)
{
    MPI_Request request[8];
    MPI_Status status;
    init();
    for (int i = 0; i < 4; i++)
        MPI_Isend(NULL, i + 1, MPI_INT, 1, 40 + i, MPI_COMM_WORLD, &request[i]);
    expect(request[0] == request[3], "the stand-in shares handles");
    for (int i = 3; i >= 0; i--)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    MPI_Irecv(NULL, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(NULL, 3, MPI_DOUBLE, 1, 50, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 9, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
    expect(status.MPI_SOURCE == 1 && status.MPI_TAG == 9, "the status is the library's");
    MPI_Recv(NULL, 9, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    finalize();
}

/* Results of wildcard receives, though the program asks for no status. */
static void wildcards(void)
{
    MPI_Request request[40];
    int flag;
    init();
    standin_state()->found = 1;
    for (int round = 0; round < 2; round++) {
        MPI_Irecv(NULL, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Irecv(NULL, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
        MPI_Irecv(NULL, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    for (int count = 4; count <= 40; count += 36) {
        for (int i = 0; i < count; i++)
            MPI_Irecv(NULL, 1, MPI_INT, i < 3 ? MPI_ANY_SOURCE : 1, 3, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(count, request, MPI_STATUS_IGNORE);
    }
    finalize();
}

/* A spin, polls in turn on several requests, and polls that the program works in between. */
static void polls(void)
{
    struct standin *standin = standin_state();
    MPI_Request request[12];
    int flag;
    init();
    for (int i = 0; i < 100000; i++)
        MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    standin->found = 1;
    MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    standin->found = 0;
    for (int i = 0; i < 12; i++)
        MPI_Irecv(NULL, 1, MPI_INT, 1, 20 + i, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < 12000; i++)
        MPI_Test(&request[i % 12], &flag, MPI_STATUS_IGNORE);
    standin->found = 1;
    for (int i = 0; i < 12; i++)
        MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
    standin->found = 0;
    for (int i = 0; i < 3; i++) {
        MPI_Iprobe(1, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    finalize();
}

/* Errors that are returned, by calls that are new and by calls that were made before. */
static void failures(void)
{
    struct standin *standin = standin_state();
    init();
    for (int i = 0; i < 4; i++) {
        standin->result = i % 2 ? 0 : 113;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    standin->result = 0;
    finalize();
}

static void control(void)
{
    MPI_Request request;
    init();
    send_some(10);
    MPI_Pcontrol(0);
    send_some(1000);
    MPI_Pcontrol(0);
    MPI_Isend(NULL, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Pcontrol(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send_some(10);
    MPI_Pcontrol(2);
    MPI_Pcontrol(7, "of another tool", 1.0);
    send_some(1);
    finalize();
    printf("send 21\nwait 1\n");
}

/* --- processes and threads -------------------------------------------------------------------- */

enum { THREADS = 8, PER_THREAD = 50000 };

static void *send_many(void *unused)
{
    send_some(PER_THREAD);
    return unused;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, send_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    send_some(1);
    finalize();
    printf("send %d\n", THREADS * PER_THREAD + 1);
}

static void forks(void)
{
    int status;
    init();
    send_some(5);
    pid_t child = fork();
    if (child == 0) {
        send_some(7);
        finalize();
        exit(0);
    }
    expect(waitpid(child, &status, 0) == child && status == 0, "the child did not end well");
    send_some(6);
    finalize();
    printf("send 11\n");
}

/* A child that libc does not know of, and which libc's exit() ends. */
static void clones(void)
{
    int status;
    init();
    send_some(5);
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        exit(0);
    expect(waitpid((pid_t)child, &status, 0) == child && status == 0, "the child did not end well");
    send_some(6);
    finalize();
    printf("send 11\n");
}

static void killed(void)
{
    init();
    send_some(12345);
    printf("send 12345\n");
    fflush(stdout);
    raise(SIGKILL);
}

static void exits(void)
{
    init();
    send_some(10);
    printf("send 10\n");
    exit(3);
}

static void aborts(void)
{
    init();
    send_some(10);
    printf("abort 1\nsend 10\n");
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 42);
}

/* --- surroundings ----------------------------------------------------------------------------- */

enum { DESCRIPTORS = 4096 };

static void descriptors(void)
{
    static bool before[DESCRIPTORS];
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    init();
    send_some(1);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (before[fd] || flags < 0)
            continue;
        expect(fd >= 56, "a low descriptor was taken");
        expect(fd < 64, "the kernel had to make room for a descriptor");
        expect(flags & FD_CLOEXEC, "a descriptor is not closed on exec");
    }
    finalize();
    printf("send 1\n");
}

static void few_descriptors(void)
{
    struct rlimit limit = {12, 12};
    expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "cannot lower the limit");
    init();
    send_some(100);
    finalize();
    printf("send 100\n");
}

static void plain(void)
{
    init();
    send_some(20);
    finalize();
    printf("send 20\n");
}

static void once(void)
{
    init();
    send_some(1);
    finalize();
    printf("send 1\n");
}

/* The library that runs lacks what the one that was linked has. */
static void lacking(void)
{
    init();
    send_some(1);
    printf("send 1\n");
    fflush(stdout);
    MPI_Scan(NULL, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* As interpreters do: functions are asked for by name, from the library's own handle. */
static void looked_up(void)
{
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    Dl_info info;
    init();
    expect(dladdr((void *)standin_state, &info) != 0, "no library");
    void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    expect(library != NULL, "the library cannot be opened");
    *(void **)&send = dlsym(library, "MPI_Send");
    for (int i = 0; i < 5; i++)
        send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    *(void **)&send = dlsym(RTLD_DEFAULT, "MPI_Send");
    for (int i = 0; i < 5; i++)
        send(NULL, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    finalize();
    printf("send 10\n");
}

/* Programs ask whether their MPI has a function. */
/* Closes what it does not know, as daemons do, and uses the numbers for files of its own. */
static void closes_all(void)
{
    enum { FILES = 100, SENDS = 100000 };
    int files[FILES];
    char name[] = "/tmp/sp-program-XXXXXX", byte;
    init();
    send_some(1);
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        close(fd);
    for (int i = 0; i < FILES; i++) {
        strcpy(name + strlen("/tmp/sp-program-"), "XXXXXX");
        files[i] = mkstemp(name);
        expect(files[i] >= 3 && unlink(name) == 0 && write(files[i], "1", 1) == 1, "no file");
    }
    send_some(SENDS);
    finalize();
    for (int i = 0; i < FILES; i++) {
        expect(lseek(files[i], 0, SEEK_END) == 1, "a file of the program's has another size");
        expect(pread(files[i], &byte, 1, 0) == 1 && byte == '1', "and another content");
    }
}

static struct sigaction actions[NSIG];

static void compare_signals(void)
{
    struct sigaction action;
    sigset_t mask;
    for (int i = 1; i < NSIG; i++) {
        if (sigaction(i, NULL, &action) < 0)
            continue;
        expect(action.sa_handler == actions[i].sa_handler &&
                   action.sa_flags == actions[i].sa_flags,
               "what a signal does was changed");
    }
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < NSIG; i++)
        expect(sigismember(&mask, i) == (i == SIGUSR2), "the signal mask was changed");
}

/* What calls leave as it is: what signals do and which are blocked, how numbers are rounded, and
 * which exceptions there were. One that comes unasked ends the program. */
static void state(void)
{
    signal(SIGUSR1, SIG_IGN);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &actions[i]);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    fesetround(FE_DOWNWARD);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    init();
    send_some(20000); /* more than a window */
    compare_signals();
    expect(fegetround() == FE_DOWNWARD, "the rounding mode was changed");
    expect(fetestexcept(FE_ALL_EXCEPT) == 0, "a floating-point exception was raised");
    finalize();
    compare_signals();
    expect(fegetround() == FE_DOWNWARD, "the rounding mode was changed");
    expect(fetestexcept(FE_ALL_EXCEPT) == 0, "a floating-point exception was raised");
    printf("send 20000\n");
}

static void absent(void)
{
    init();
    expect(dlsym(RTLD_DEFAULT, "MPI_Send") != NULL, "MPI_Send is not found");
    expect(dlsym(RTLD_DEFAULT, "MPI_Scan") == NULL, "MPI_Scan is found where there is none");
    finalize();
}

static const struct {
    const char *name;
    void (*play)(void);
} scenarios[] = {
    {"every", every},         {"every_local", every_local},
    {"registers", registers}, {"internal", internal},
    {"callback", callback},   {"recursion", recursion},
    {"longjmp", longjmp_out}, {"requests", requests},
    {"threads", threads},     {"fork", forks},
    {"clone", clones},
    {"kill", killed},         {"exit", exits},
    {"abort", aborts},        {"descriptors", descriptors},
    {"few", few_descriptors}, {"plain", plain},
    {"lacking", lacking},     {"looked_up", looked_up},
    {"absent", absent},       {"wildcards", wildcards},
    {"polls", polls},         {"failures", failures},
    {"control", control},     {"state", state},
    {"closes_all", closes_all}, {"once", once},
    {"starting", starting},   {"jumping", jumping},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        scenarios[i].play();
        return problems > 0;
    }
    fprintf(stderr, "program: no such scenario\n");
    return 2;
}
