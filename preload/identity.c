/* SPDX-License-Identifier: BSD-3-Clause */
/* Who this rank is and where its trace goes: from the environment that the plugin or sp-run left.
 */
#define _GNU_SOURCE
#include "preload/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/dispatch.h"
#include "preload/likwid.h"
#include "preload/mpirun_run.h"
#include "preload/pages.h"
#include "preload/trace_limit.h"
#include "schema/exit_record.h"
#include "schema/host_key.h"
#include "schema/job_record.h"
#include "schema/likwid_record.h"
#include "schema/options.h"
#include "schema/regular_file.h"
#include "schema/run_environment.h"
#include "schema/run_path.h"
#include "schema/size_text.h"
#include "schema/trace_container.h"

enum { SEQUENCE_MAX = 1000 }; /* MPI programs that one task may run after another */
enum { WORLD_NAME_MAX = 96 };
enum { JOB_TEXT_SIZE = 64 * 1024 };

static char shared_run[PATH_MAX]; /* of the ranks of one mpirun, once it is found */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int32_t number(const char *name)
{
    const char *value = variable(name);
    char *end;
    errno = 0;
    long result = value ? strtol(value, &end, 10) : -1;
    return value && *end == '\0' && errno == 0 && result >= 0 && result <= INT32_MAX
               ? (int32_t)result
               : -1;
}

/* The step that asked is the step we are in. */
static bool in_asking_step(void)
{
    const char *asked = variable(STEP_ENV_STEP);
    const char *job = variable("SLURM_JOB_ID"), *step = variable("SLURM_STEP_ID");
    char here[64];
    if (!asked || !job || !step)
        return false;
    snprintf(here, sizeof here, "%s.%s", job, step);
    return strcmp(asked, here) == 0;
}

static bool has_launcher(void)
{
    return variable("PMI_RANK") || variable("PMIX_RANK") || variable("OMPI_COMM_WORLD_RANK");
}

/* A rank that mpirun started in the job that asked, no matter where mpirun itself runs, and by no
 * sp-run of its own. */
static bool below_mpirun(void)
{
    const char *asked = variable(MPIRUN_ENV_JOB), *job = variable("SLURM_JOB_ID");
    return asked && job && strcmp(asked, job) == 0 && has_launcher() && !variable(RUN_ENV_RUN) &&
           !in_asking_step();
}

/* Hydra (MPICH's and Intel MPI's mpiexec) gives worlds no name: what their ranks have in common
 * has to tell them apart. All on a host are children of one process, those of spawned worlds
 * too. */
static void hydra_world_name(char name[static WORLD_NAME_MAX])
{
    const char *kind = variable("PMI_SPAWNED") ? "spawned" : "world";
    const char *step = below_mpirun() ? variable(MPIRUN_ENV_STEP) : NULL; /* of Hydra's daemons */
    int32_t size = number("PMI_SIZE");
    if (size < 0)
        snprintf(name, WORLD_NAME_MAX, "%s", kind);
    else if (number("MPI_LOCALNRANKS") == size)
        snprintf(name, WORLD_NAME_MAX, "%s-of-%d-%ld", kind, (int)size, (long)getppid());
    else
        snprintf(name, WORLD_NAME_MAX, "%s-of-%d%s%s", kind, (int)size, step ? "-" : "",
                 step ? step : "");
}

/* The name under which the launcher knows our MPI_COMM_WORLD, as one path component. */
static void world_name(char name[static WORLD_NAME_MAX])
{
    const char *given = variable("PMIX_NAMESPACE");
    if (!given)
        given = variable("PMI_JOBID");
    /* What Slurm calls the daemons of an mpirun, or the shell around it, is no name of a world. */
    if (below_mpirun() && variable("PMI_RANK"))
        given = NULL;
    if (given)
        snprintf(name, WORLD_NAME_MAX, "%s", given);
    else
        hydra_world_name(name);
    for (char *p = name; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' || (*p == '.' && p > name);
        if (!plain)
            *p = '_';
    }
}

/* What the plugin handed to the step's tasks or to mpirun, or else sp-run to its children. */
static const char *handed(const char *step_name, const char *mpirun_name, const char *run_name)
{
    return variable(in_asking_step() ? step_name : below_mpirun() ? mpirun_name : run_name);
}

/* The user's own word: SCOPE_PROFILER_MPI, which the Python package scope-profiler heeds as
 * well. */
enum wish { WISH_NONE, WISH_OFF, WISH_ON };

static enum wish user_wish(void)
{
    static const char *const off[] = {"0", "false", "no", "off"}, *const on[] = {"1", "true", "yes",
                                                                                "on"};
    const char *value = variable("SCOPE_PROFILER_MPI");
    for (size_t i = 0; value && i < sizeof on / sizeof *on; i++) {
        if (strcasecmp(value, off[i]) == 0)
            return WISH_OFF;
        if (strcasecmp(value, on[i]) == 0)
            return WISH_ON;
    }
    return WISH_NONE;
}

/* Below the working directory, for who preloads us without plugin and sp-run. All ranks of a
 * launcher have to find the same name: its own for them, or the number of the process that started
 * those of a host. */
static const char *own_run_directory(void)
{
    static char path[PATH_MAX];
    char name[WORLD_NAME_MAX], host[64] = "";
    const char *job = variable("SLURM_JOB_ID"), *step = variable("SLURM_STEP_ID");
    if (*path)
        return path;
    gethostname(host, sizeof host - 1);
    if (job && step)
        snprintf(name, sizeof name, "%s.%s", job, step);
    else if (variable("PMIX_NAMESPACE"))
        world_name(name);
    else
        snprintf(name, sizeof name, "%s-%ld", host, (long)(has_launcher() ? getppid() : getpid()));
    char *end = getcwd(path, sizeof path) ? path + strlen(path) : NULL;
    if (!end || (size_t)snprintf(end, sizeof path - (size_t)(end - path), "/" RUN_PREFIX "%s",
                                 name) >= sizeof path - (size_t)(end - path))
        return NULL;
    return path;
}

/* Until the ranks of an mpirun have found the directory that they share, what its name begins with.
 */
static const char *run_directory(void)
{
    enum wish wish = user_wish();
    if (wish == WISH_OFF)
        return NULL;
    if (*shared_run)
        return shared_run;
    const char *run = handed(STEP_ENV_RUN, MPIRUN_ENV_RUN, RUN_ENV_RUN);
    return run || wish != WISH_ON || in_asking_step() ? run : own_run_directory();
}

const char *identity_what(void)
{
    return handed(STEP_ENV_WHAT, MPIRUN_ENV_WHAT, RUN_ENV_WHAT);
}

bool identity_wanted(void)
{
    const char *run = run_directory();
    return run && *run == '/';
}

void identity_launched(uint32_t *rank, uint32_t *size)
{
    static const char *const names[][2] = {{"PMI_RANK", "PMI_SIZE"},
                                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t found = number(names[i][0]), of = number(names[i][1]);
        if (found < 0 || found >= of)
            continue;
        *rank = (uint32_t)found;
        *size = (uint32_t)of;
        return;
    }
    *rank = 0;
    *size = 1;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* Ranks below mpirun have what Slurm says of its daemons, too. */
static int32_t local_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"};
    for (size_t i = 0; below_mpirun() && i < sizeof names / sizeof *names; i++) {
        if (variable(names[i]))
            return number(names[i]);
    }
    return number("SLURM_LOCALID");
}

static void describe(struct trace_header *header, const struct recorder_world *world,
                     const struct trace_sync *first_sync)
{
    const char *job = variable(STEP_ENV_STEP);
    const char *run = run_directory();
    char name[WORLD_NAME_MAX];

    memset(header, 0, sizeof *header);
    header->rank = world->rank;
    header->world_size = world->size;
    header->local_rank = local_rank();
    header->node_id = number("SLURM_NODEID");
    header->restart = number("SLURM_RESTART_COUNT");
    header->pid = (int32_t)getpid();
    header->family = world->family;
    header->thread_level = world->thread_level;
    header->clock_source = clock_source;
    header->clock_shift = clock_shift();
    header->first_sync = *first_sync;
    if (in_asking_step()) {
        copy_text(header->job, sizeof header->job, job);
    } else {
        const char *base = strrchr(run, '/') + 1; /* a run directory is absolute */
        bool named = strncmp(base, RUN_PREFIX, strlen(RUN_PREFIX)) == 0;
        copy_text(header->job, sizeof header->job, named ? base + strlen(RUN_PREFIX) : base);
    }
    world_name(name);
    copy_text(header->world, sizeof header->world, name);
    const char *node = below_mpirun() ? variable(MPIRUN_ENV_NODE) : NULL;
    copy_text(header->node, sizeof header->node, node ? node : variable("SLURMD_NODENAME"));
    gethostname(header->host, sizeof header->host - 1);
    host_key_read(header->host_key, sizeof header->host_key);
    copy_text(header->mpi_version, sizeof header->mpi_version, dispatch_mpi_version());
}

/* The run directory with those above it that are missing. */
static int make_directories(const char *path, struct error *err)
{
    char partial[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof partial)
        return error_set(err, "the run directory's name is too long");
    memcpy(partial, path, length + 1);
    for (char *p = partial + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return error_set(err, "cannot make the directory %s: %s", partial, strerror(errno));
        if (!end)
            return 0;
        *p = end;
    }
}

static int open_directory(int parent, const char *name, struct error *err)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 ? fd : error_set(err, "cannot open the directory %s: %s", name, strerror(errno));
}

static void add_timestamp(struct job_record_text *text)
{
    char stamp[64];
    struct tm utc;
    time_t now = time(NULL);
    /* UTC: asking for the local time would read files and take locks of the C library. */
    if (gmtime_r(&now, &utc) && strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S+00:00", &utc))
        job_record_add(text, "timestamp", stamp);
}

static void add_number(struct job_record_text *text, const char *key, long value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%ld", value);
    if (value >= 0)
        job_record_add(text, key, digits);
}

/* Nobody hands mpirun's words on, but a rank knows its own. */
static void add_command(struct job_record_text *text)
{
    char command[RUN_COMMAND_MAX];
    if (!below_mpirun()) {
        job_record_add(text, "command", handed(STEP_ENV_COMMAND, NULL, RUN_ENV_COMMAND));
        return;
    }
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, command, sizeof command - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return;
    command[length] = '\0';
    for (ssize_t i = 0; i < length - 1; i++) { /* words end with a zero */
        if (command[i] == '\0')
            command[i] = ' ';
    }
    job_record_add(text, "command", command);
}

/* What a run is told apart by a year later. */
static void publish_job(int run, const struct trace_header *header)
{
    static const char *const kept[] = {"SLURM_JOB_ID",
                                       "SLURM_STEP_ID",
                                       "SLURM_JOB_NAME",
                                       "SLURM_JOB_ACCOUNT",
                                       "SLURM_JOB_PARTITION",
                                       "SLURM_CLUSTER_NAME",
                                       "SLURM_JOB_USER",
                                       "SLURM_JOB_NUM_NODES",
                                       "SLURM_JOB_NODELIST",
                                       "SLURM_STEP_NODELIST",
                                       "SLURM_STEP_NUM_NODES",
                                       "SLURM_STEP_NUM_TASKS",
                                       "SLURM_STEP_TASKS_PER_NODE",
                                       "SLURM_CPUS_PER_TASK",
                                       "SLURM_CPUS_ON_NODE",
                                       "SLURM_SUBMIT_DIR",
                                       "SLURM_SUBMIT_HOST",
                                       "SLURM_ARRAY_JOB_ID",
                                       "SLURM_ARRAY_TASK_ID",
                                       "SLURM_HET_SIZE",
                                       "SLURM_RESTART_COUNT",
                                       "OMP_NUM_THREADS"};
    char directory[PATH_MAX];
    const char *user = variable("SLURM_JOB_USER");
    char *buffer = pages_take(JOB_TEXT_SIZE);
    struct job_record_text text = {.buffer = buffer, .size = JOB_TEXT_SIZE};

    if (!buffer)
        return;
    job_record_begin(&text);
    job_record_add(&text, "job", header->job);
    add_number(&text, "restart", header->restart);
    add_number(&text, "world_size", header->world_size);
    add_number(&text, "node_count", number("SLURM_STEP_NUM_NODES"));
    job_record_add(&text, "what", identity_what());
    job_record_add(&text, "user", user ? user : variable("USER"));
    job_record_add(&text, "hostname", header->host);
    job_record_add(&text, "working_directory", getcwd(directory, sizeof directory));
    add_timestamp(&text);
    job_record_add(&text, "mpi_version", header->mpi_version);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        job_record_add(&text, kept[i], variable(kept[i]));
    add_command(&text);
    job_record_publish(&text, run, NULL); /* without it the profile lacks names, not numbers */
    pages_give(buffer, JOB_TEXT_SIZE);
}

const char *identity_counters(void)
{
    size_t length;
    const char *record = in_asking_step() ? variable(STEP_ENV_LIKWID) : NULL;
    if (!record && options_value(identity_what(), "likwid", &length))
        record = LIKWID_RECORD_FIRST "\t" LIKWID_RECORD_REASON
                                     "=counters are read in tasks of srun alone\t";
    return record;
}

/* The counters that were asked for go beside the trace. */
static void attach_likwid(int world, const char *directory, uint32_t rank)
{
    char path[PATH_MAX];
    const char *record = identity_counters();
    if (record && snprintf(path, sizeof path, "%s/%s", run_directory(), directory) <
                      (int)sizeof path)
        likwid_attach(world, path, rank, record);
}

/* The trace below place, in the first directory WORLD-N that has none of this rank yet, there
 * and below other (-1: there is no other): a task may run several MPI programs one after
 * another. */
static int create_in_world(struct trace_writer *writer, int place, int other, uint64_t limit,
                           struct trace_header *header,
                           void (*read_clocks)(struct trace_sync *sync), struct error *err)
{
    char directory[sizeof header->world + 16], file[32], path[sizeof directory + sizeof file];

    snprintf(file, sizeof file, "rank-%06u" TRACE_SUFFIX, header->rank);
    for (uint32_t sequence = 0; sequence < SEQUENCE_MAX; sequence++) {
        snprintf(directory, sizeof directory, "%s-%u", header->world, sequence);
        snprintf(path, sizeof path, "%s/%s", directory, file);
        if (other >= 0 && faccessat(other, path, F_OK, 0) == 0)
            continue;
        if (mkdirat(place, directory, 0777) < 0 && errno != EEXIST)
            return error_set(err, "cannot make the directory %s: %s", directory, strerror(errno));
        int world = open_directory(place, directory, err);
        if (world < 0)
            return -1;
        header->world_sequence = sequence;
        int status = trace_writer_create(writer, world, file, header, limit, read_clocks, err);
        int error = errno;
        if (status == 0)
            attach_likwid(world, directory, header->rank);
        close(world);
        if (status == 0 || error != EEXIST)
            return status;
    }
    return error_set(err, "more than %d MPI programs in one task", SEQUENCE_MAX);
}

/* The step's directory in the node's spool; -1: there is none, or none that can be used. Files of
 * hardware counters lie beside their traces, and are no part of a container. */
static int open_spool(void)
{
    size_t length;
    const char *path = variable(STEP_ENV_SPOOL);
    bool counts = options_value(identity_what(), "likwid", &length) != NULL;
    return path && in_asking_step() && !counts ? open_directory(AT_FDCWD, path, NULL) : -1;
}

/* The container tells whoever merges that this node has traces to bring yet, and whoever looks at the
 * job where they are. */
static int begin_container(int run)
{
    const char *spool = variable(STEP_ENV_SPOOL);
    const char *name = variable(STEP_ENV_SPOOL_FILE);
    int fd = name && !strchr(name, '/')
                 ? openat(run, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)
                 : -1;
    if (fd >= 0 && spool && regular_file_size(fd) == 0)
        trace_container_announce(fd, spool);
    return fd < 0 ? -1 : close(fd);
}

/* The limit there, which is the run's, and what the site lets all ranks of the node take; 0: too
 * little to be of use. */
static uint64_t limit_in_spool(int spool, uint32_t ranks)
{
    uint64_t size, limit = trace_limit(identity_what(), ranks, spool);
    const char *text = variable(STEP_ENV_SPOOL_SIZE);
    if (!text || !size_text_read(text, strlen(text), &size))
        return limit;
    uint64_t share = trace_limit_in_spool(size, ranks);
    return share < limit ? share : limit;
}

/* In the spool if the node has one that takes it, else in the run directory. */
static int create_trace(struct trace_writer *writer, int run, struct trace_header *header,
                        void (*read_clocks)(struct trace_sync *sync), struct error *err)
{
    uint32_t ranks = header->world_size;
    int spool = open_spool(), status = -1;
    uint64_t limit = spool < 0 ? 0 : limit_in_spool(spool, ranks);
    if (limit > 0 && begin_container(run) == 0)
        status = create_in_world(writer, spool, run, limit, header, read_clocks, NULL);
    if (status < 0)
        status = create_in_world(writer, run, spool, trace_limit(identity_what(), ranks, run),
                                 header, read_clocks, err);
    if (spool >= 0)
        close(spool);
    return status;
}

/* Finds the directory that the ranks of this mpirun share, if this is one, or makes it. */
static int find_shared_run(struct error *err)
{
    char path[PATH_MAX], world[WORLD_NAME_MAX], name[NAME_MAX + 1];
    const char *runs = run_directory();
    if (!runs || !below_mpirun() || *shared_run)
        return 0;
    if (strlen(runs) >= sizeof path)
        return error_set(err, "the run directory's name is too long");
    strcpy(path, runs);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (*path && make_directories(path, err) < 0)
        return -1;
    int parent = open(*path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return error_set(err, "cannot open the directory %s: %s", path, strerror(errno));
    world_name(world);
    int status = mpirun_run_find(parent, slash + 1, world, number("SLURM_RESTART_COUNT"), name,
                                 sizeof name, err);
    close(parent);
    if (status < 0)
        return -1;
    if (strlen(path) + 1 + strlen(name) >= sizeof shared_run)
        return error_set(err, "the run directory's name is too long");
    strcpy(stpcpy(stpcpy(shared_run, path), "/"), name);
    return 0;
}

int identity_create_trace(struct trace_writer *writer, const struct recorder_world *world,
                          const struct trace_sync *first_sync,
                          void (*read_clocks)(struct trace_sync *sync), struct error *err)
{
    struct trace_header header;
    if (find_shared_run(err) < 0)
        return -1;
    const char *path = run_directory();
    if (!path)
        return error_set(err, "the environment no longer names the run directory");
    describe(&header, world, first_sync);
    if (make_directories(path, err) < 0)
        return -1;
    int run = open_directory(AT_FDCWD, path, err);
    if (run < 0)
        return -1;
    publish_job(run, &header);
    if (in_asking_step() && header.local_rank == 0)
        exit_record_reserve(run, header.node);
    int status = create_trace(writer, run, &header, read_clocks, err);
    close(run);
    return status;
}
