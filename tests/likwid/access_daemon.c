/* SPDX-License-Identifier: BSD-3-Clause */
/* A likwid-accessD without hardware: counters of a simulated Zen 2, whose values follow a rule.
 *
 * liblikwid starts this from PATH under the name likwid-accessD, with empty arguments and an empty
 * environment, and connects to the socket /tmp/likwid-PID. Each request is one record and gets the
 * same record back; only the request to end gets no answer.
 *
 * The rule: register state lies in /dev/shm, so that it is the host's, as in hardware. A counter of
 * CPU c grows by c + 1 times its step at each read; what is no counter reads back as was written.
 * A marker reads each counter once at its start and once at its stop: each call counts one step.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define STATE_FILE "/dev/shm/likwid-simulated-registers"

enum { CPUS = 1024, REGISTERS = 128, CONNECT_MS = 20000 };

/* What goes over the socket, both ways. */
struct record {
    uint32_t cpu, reg;
    uint64_t data;
    int32_t device, type, error, unused;
};

enum type { TYPE_READ, TYPE_WRITE, TYPE_CHECK, TYPE_EXIT };
enum { DEVICE_MSR = 0, ERROR_NONE = 0, ERROR_UNKNOWN_REGISTER = 1 };

struct cell {
    uint32_t reg;
    uint64_t value;
};

struct state {
    struct cell cells[CPUS][REGISTERS];
};

/* By how much a counter of CPU 0 grows at each read. 0: the register is no counter. */
static uint64_t step_of(uint32_t reg)
{
    static const struct {
        uint32_t reg;
        uint64_t step;
    } counters[] = {
        {0xC00000E9, 900000},  /* instructions retired */
        {0xC00000E8, 2000000}, /* actual clock */
        {0xC00000E7, 1000000}, /* maximum clock */
        {0xC0010201, 400000},  /* PMC0 to PMC5 */
        {0xC0010203, 600000},  {0xC0010205, 50000}, {0xC0010207, 0},
        {0xC0010209, 70000},   {0xC001020B, 80000},
        {0xC001029A, 65536},   /* energy of the core */
        {0xC001029B, 131072},  /* energy of the socket */
        {0xC0010241, 3000},    /* DFC0 to DFC3: channels of the memory */
        {0xC0010243, 5000},    {0xC0010245, 7000},  {0xC0010247, 9000},
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (counters[i].reg == reg)
            return counters[i].step;
    }
    return 0;
}

/* The energy unit of LIKWID's formula is 2^-(bits 8 to 12): 2^-14 J here. */
static uint64_t initial(uint32_t reg)
{
    return reg == 0xC0010299 ? 0xA0E03 : 0;
}

/* NULL: there is no such CPU, or it has too many registers already. */
static struct cell *find(struct state *state, uint32_t cpu, uint32_t reg)
{
    if (cpu >= CPUS || reg == 0)
        return NULL;
    struct cell *cells = state->cells[cpu];
    for (size_t i = 0; i < REGISTERS; i++) {
        if (cells[i].reg == 0)
            cells[i] = (struct cell){reg, initial(reg)};
        if (cells[i].reg == reg)
            return &cells[i];
    }
    return NULL;
}

static void answer(struct state *state, struct record *record)
{
    struct cell *cell = find(state, record->cpu, record->reg);
    record->error = ERROR_NONE;
    if (record->type == TYPE_CHECK)
        return;
    if (!cell || record->device != DEVICE_MSR) {
        record->error = ERROR_UNKNOWN_REGISTER;
    } else if (record->type == TYPE_WRITE) {
        cell->value = record->data;
    } else {
        cell->value += (record->cpu + 1) * step_of(record->reg);
        record->data = cell->value;
    }
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_LOCAL, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0) {
        perror("likwid-accessD (simulated)");
        exit(1);
    }
    return fd;
}

/* The client may have died before it came: nobody waits for it without end. */
static int await_client(int listening)
{
    struct pollfd ready = {.fd = listening, .events = POLLIN};
    return poll(&ready, 1, CONNECT_MS) == 1 ? accept(listening, NULL, NULL) : -1;
}

static struct state *share_state(void)
{
    int fd = open(STATE_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(struct state)) < 0) {
        perror(STATE_FILE);
        exit(1);
    }
    void *state = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (state == MAP_FAILED) {
        perror(STATE_FILE);
        exit(1);
    }
    return state;
}

int main(void)
{
    char path[64];
    struct record record;
    umask(0);
    struct state *state = share_state();
    snprintf(path, sizeof path, "/tmp/likwid-%d", (int)getpid());
    int listening = listen_at(path);
    int client = await_client(listening);
    unlink(path);
    if (client < 0)
        return 1;
    while (recv(client, &record, sizeof record, MSG_WAITALL) == (ssize_t)sizeof record &&
           record.type != TYPE_EXIT) {
        answer(state, &record);
        if (send(client, &record, sizeof record, MSG_NOSIGNAL) != (ssize_t)sizeof record)
            return 1;
    }
    return 0;
}
