/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that start other processes: what these do is not the rank's, and costs it nothing. With the
 * argument "exec" the program ends by becoming another one. */
#include "tally.h"

#include <sys/wait.h>

static int rank, size;

static void calls(void)
{
    int value = rank;
    for (int i = 0; i < 20; i++) {
        tally_message("sendrecv_replace", sizeof value, (rank + 1) % size, 1);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void ends_at_once(void)
{
    _exit(7);
}

/* Runs exit handlers and destructors. */
static void exits(void)
{
    exit(7);
}

/* Another program, which inherits the library. */
static void executes(void)
{
    execlp("sh", "sh", "-c", "ls / >/dev/null && exit 7", NULL);
}

/* A program without MPI is started in the child's child, and the child stays for a while. */
static void starts_another(void)
{
    int status = system("true");
    usleep(20000);
    exit(status == 0 ? 7 : 1);
}

static void child(void (*act)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        act();
        _exit(1);
    }
    calls();
    if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7) {
        fprintf(stderr, "processes: a child ended with %#x\n", status);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tally_call("init", "other", NONE, NONE, NONE, NONE, "-1");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tally_connect(rank, size);
    child(ends_at_once);
    child(exits);
    child(executes);
    child(starts_another);
    calls();
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        tally_write(rank);
        execlp("sh", "sh", "-c", "exit 9", NULL);
    }
    tally_call("finalize", "other", NONE, NONE, NONE, NONE, "-1");
    tally_leave(rank, size);
    MPI_Finalize();
    return 0;
}
