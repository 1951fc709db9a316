/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that stand between a program, its QMPI tools, the recorder and the MPI library. */
#define _GNU_SOURCE
#include "preload/qmpi_way.h"

#include <stddef.h>
#include <stdint.h>

#include "preload/dispatch.h"
#include "preload/objects.h"
#include "preload/qmpi.h"
#include "preload/recorder.h"

#include "preload/qmpi_ways.h"

typedef uintptr_t word;

/* In a context, beside the address. */
#define CALLED_PMPI (UINT64_C(1) << 63)
#define QUIET (UINT64_C(1) << 62) /* not the program's call: seen, but not recorded */

/* A call on its way through a head or a below. It lives on their stack, and its address tells how
 * deep. */
struct pass {
    void *function;
    int tool;
    struct qmpi_context context;
    const void *outer; /* the pass that this one is nested in */
};

/* Of the calling thread: the program's call that is running, and the one that is being handed to
 * its wrapper, which has no context to hand on. */
static __thread struct {
    const void *frame;
    uintptr_t handed;
    unsigned entry; /* + 1; 0: none */
} here __attribute__((tls_model("initial-exec")));

/* A call may be left by longjmp or an exception, which is seen by the next one lying above it. */
static bool is_outermost(const void *frame)
{
    uintptr_t recorded = recorder_thread ? (uintptr_t)recorder_thread->frame : 0;
    return (uintptr_t)frame >= (uintptr_t)here.frame && (uintptr_t)frame >= recorded;
}

static void direct(struct pass *pass, const struct qmpi_hop *hop, uintptr_t context)
{
    pass->function = hop->function;
    pass->tool = hop->tool;
    pass->context.storage_stack = (void **)context;
}

/* Where a call goes that a tool makes by MPI's plain names: past all tools, to what they all end
 * in. */
static const struct qmpi_hop *past_tools(enum mpi_function function)
{
    return qmpi_wants_below(function) ? qmpi_library(function) : qmpi_recorder(function);
}

/* Tools are called from here. A wrapper that ends in a jump to what it calls by name seems to be
 * here too. */
#define CALLING_TOOLS __attribute__((section("qmpi_calls_tools")))
extern const char __start_qmpi_calls_tools[], __stop_qmpi_calls_tools[];

static bool calls_tools(const void *address)
{
    return (const char *)address >= __start_qmpi_calls_tools &&
           (const char *)address < __stop_qmpi_calls_tools;
}

/* True if a call that is not a tool's is the MPI library's. Where the recorder sees no call that it
 * could be inside of, as in MPI_Init, it is told by who calls alone. */
static bool is_internal(const void *caller, bool pmpi, bool outermost)
{
    return outermost ? objects_is_library(caller) : recorder_is_internal(caller, pmpi);
}

/* Begins a call through a head. One that is not the program's goes past all tools. */
static __attribute__((noinline)) void begin(struct pass *pass, unsigned entry, const void *caller)
{
    enum mpi_function function = entry / 2;
    uintptr_t context = (uintptr_t)caller | (entry % 2 ? CALLED_PMPI : UINT64_C(0));
    bool outermost = is_outermost(pass);
    pass->outer = outermost ? NULL : here.frame;
    if (qmpi_is_tool(caller) || calls_tools(caller)) {
        direct(pass, past_tools(function), context);
        return;
    }
    if (is_internal(caller, entry % 2, outermost)) {
        direct(pass, qmpi_library(function), context);
        return;
    }
    if (qmpi_helps(function) && objects_is_fortran_helper(caller, dispatch_name(entry & ~1U) + 4)) {
        direct(pass, qmpi_recorder(function), context | QUIET);
        return;
    }
    direct(pass, qmpi_first(function), context);
    here.frame = pass;
}

static inline void end(const struct pass *pass)
{
    here.frame = pass->outer;
}

/* The same where a wrapper calls on. A call that was not handed to it through a tail is not the
 * program's. */
static __attribute__((noinline)) void begin_below(struct pass *pass, enum mpi_function function)
{
    if (here.entry == 0 || (here.entry - 1) / 2 != function) {
        direct(pass, qmpi_library(function), CALLED_PMPI);
        return;
    }
    here.entry = 0;
    direct(pass, qmpi_first_below(function), here.handed);
}

static inline unsigned entry_of(enum mpi_function function, struct qmpi_context context)
{
    return (uintptr_t)context.storage_stack & CALLED_PMPI ? ENTRY_PMPI(function)
                                                          : ENTRY_MPI(function);
}

/* The wrapper whose turn it is, or NULL where the library's is. */
static __attribute__((noinline)) void *hand_over(enum mpi_function function,
                                                 struct qmpi_context context)
{
    unsigned entry = entry_of(function, context);
    if ((uintptr_t)context.storage_stack & QUIET)
        return dispatch_quiet(entry);
    void *wrapper = dispatch_recorded(entry);
    if (wrapper == dispatch_behind(entry))
        return NULL;
    here.handed = (uintptr_t)context.storage_stack;
    here.entry = entry + 1;
    return wrapper;
}

/* Wrappers take calls that return to here for the program's: the library is not called from here,
 * whose functions may end in a jump to others. */
#define HANDING_OVER __attribute__((section("qmpi_hands_over")))
extern const char __start_qmpi_hands_over[], __stop_qmpi_hands_over[];

bool qmpi_way_passes_on(const void *address)
{
    return ((const char *)address >= __start_qmpi_hands_over &&
            (const char *)address < __stop_qmpi_hands_over) ||
           calls_tools(address);
}

const void *qmpi_way_caller(struct qmpi_context context)
{
    return (const void *)((uintptr_t)context.storage_stack & ~(CALLED_PMPI | QUIET));
}

int qmpi_way_nowhere(void)
{
    return qmpi_error();
}

/* After a call: it cannot be made a jump, so who is called sees that we call. */
#define STAY(result) __asm__ volatile("" : "+r"(result))

#define PLAIN(count) int (*)(WORDS_##count)
#define TOOLS(count) int (*)(struct qmpi_context, int ALSO_WORDS_##count)

#define HEAD(name, entry, count)                                                                   \
    static CALLING_TOOLS int name(WORDS_##count)                                                   \
    {                                                                                              \
        struct pass pass;                                                                          \
        begin(&pass, entry, __builtin_return_address(0));                                          \
        int result =                                                                               \
            ((TOOLS(count))pass.function)(pass.context, pass.tool ALSO_PASSED_##count);            \
        end(&pass);                                                                                \
        return result;                                                                             \
    }

#define WAY(name, count)                                                                       \
    HEAD(head_##name, ENTRY_MPI(FUNCTION_##name), count)                                   \
    HEAD(head_P##name, ENTRY_PMPI(FUNCTION_##name), count)                                 \
    static CALLING_TOOLS int below_##name(WORDS_##count)                                           \
    {                                                                                              \
        struct pass pass;                                                                          \
        begin_below(&pass, FUNCTION_##name);                                                       \
        int result =                                                                               \
            ((TOOLS(count))pass.function)(pass.context, pass.tool ALSO_PASSED_##count);            \
        STAY(result);                                                                              \
        return result;                                                                             \
    }                                                                                              \
    static __attribute__((noinline)) int library_##name(struct qmpi_context context,               \
                                                        int tool ALSO_WORDS_##count)               \
    {                                                                                              \
        (void)tool;                                                                                \
        void *next = dispatch_behind(entry_of(FUNCTION_##name, context));                          \
        int result = ((PLAIN(count))next)(PASSED_##count);                                         \
        STAY(result);                                                                              \
        return result;                                                                             \
    }                                                                                              \
    static HANDING_OVER int recorder_##name(struct qmpi_context context,                           \
                                            int tool ALSO_WORDS_##count)                           \
    {                                                                                              \
        void *wrapper = hand_over(FUNCTION_##name, context);                                       \
        if (!wrapper)                                                                              \
            return library_##name(context, tool ALSO_PASSED_##count);                              \
        int result = ((PLAIN(count))wrapper)(PASSED_##count);                                      \
        here.entry = 0;                                                                            \
        return result;                                                                             \
    }
MPI_WAYS(WAY)
#undef WAY

/* No tables of addresses: the loader would have to fill them in, in every process there is. */
__attribute__((cold)) void *qmpi_way_head(unsigned entry)
{
    switch (entry) {
#define WAY(name, count)                                                                       \
    case ENTRY_MPI(FUNCTION_##name):                                                           \
        return (void *)head_##name;                                                            \
    case ENTRY_PMPI(FUNCTION_##name):                                                          \
        return (void *)head_P##name;
        MPI_WAYS(WAY)
#undef WAY
    }
    return NULL;
}

#define CHOICE(choice, prefix)                                                                     \
    __attribute__((cold)) void *choice(enum mpi_function of)                                       \
    {                                                                                              \
        switch ((unsigned)of) {                                                                    \
            MPI_WAYS(prefix)                                                                       \
        }                                                                                          \
        return NULL;                                                                               \
    }
#define BELOW(name, count)                                                                     \
    case FUNCTION_##name:                                                                      \
        return (void *)below_##name;
#define TO_RECORDER(name, count)                                                               \
    case FUNCTION_##name:                                                                      \
        return (void *)recorder_##name;
#define TO_LIBRARY(name, count)                                                                \
    case FUNCTION_##name:                                                                      \
        return (void *)library_##name;
CHOICE(qmpi_way_below, BELOW)
CHOICE(qmpi_way_to_recorder, TO_RECORDER)
CHOICE(qmpi_way_to_library, TO_LIBRARY)
