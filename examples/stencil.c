// SPDX-License-Identifier: BSD-3-Clause
// The heat equation in one dimension on any number of ranks: halo exchange and a residual.
//
// Usage: stencil [CELLS [STEPS]]
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LEFTWARD = 1, TAG_RIGHTWARD = 2, STEPS_PER_RESIDUAL = 10 };

struct parameters {
    long cells;       // of the whole rod
    long steps;       // at most
    double tolerance; // stop when the largest change of a step is below
};

// Cells of one rank; value[0] and value[count + 1] are the neighbours' (the halo).
struct part {
    long count;
    int left, right; // ranks, or MPI_PROC_NULL at the ends of the rod
    double *value;
    double *next;
};

static struct parameters parse(int argc, char **argv)
{
    struct parameters p = {.cells = 100000, .steps = 1000, .tolerance = 1e-6};

    if (argc > 1)
        p.cells = strtol(argv[1], NULL, 10);
    if (argc > 2)
        p.steps = strtol(argv[2], NULL, 10);
    return p;
}

// Only rank 0 is sure to see the command line.
static struct parameters share(struct parameters p)
{
    MPI_Bcast(&p.cells, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(&p.steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(&p.tolerance, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return p;
}

// The rod is cold, its left end is held at 1.
static struct part make_part(long cells, int rank, int ranks)
{
    struct part part = {
        .count = cells / ranks + (rank < cells % ranks),
        .left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        .right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL,
    };

    part.value = calloc(part.count + 2, sizeof(double));
    part.next = calloc(part.count + 2, sizeof(double));
    if (part.value == NULL || part.next == NULL) {
        fprintf(stderr, "stencil: rank %d: no memory for %ld cells\n", rank, part.count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        part.value[0] = part.next[0] = 1.0;
    return part;
}

static void exchange_halo(struct part *part)
{
    MPI_Request requests[4];
    double *value = part->value;
    long last = part->count;

    MPI_Irecv(&value[0], 1, MPI_DOUBLE, part->left, TAG_RIGHTWARD, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&value[last + 1], 1, MPI_DOUBLE, part->right, TAG_LEFTWARD, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(&value[1], 1, MPI_DOUBLE, part->left, TAG_LEFTWARD, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&value[last], 1, MPI_DOUBLE, part->right, TAG_RIGHTWARD, MPI_COMM_WORLD,
              &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// Returns the largest change of a cell of this rank.
static double advance(struct part *part)
{
    double *value = part->value, *next = part->next;
    double change = 0.0;

    for (long i = 1; i <= part->count; i++) {
        next[i] = value[i] + 0.25 * (value[i - 1] - 2.0 * value[i] + value[i + 1]);
        change = fmax(change, fabs(next[i] - value[i]));
    }
    next[0] = value[0];
    next[part->count + 1] = value[part->count + 1];
    part->value = next;
    part->next = value;
    return change;
}

// Returns the steps done; residual is the largest change of the last step that was looked at.
static long solve(struct part *part, struct parameters p, double *residual)
{
    long step = 0;

    while (step < p.steps) {
        exchange_halo(part);
        double change = advance(part);
        step++;
        if (step % STEPS_PER_RESIDUAL != 0 && step != p.steps)
            continue;
        MPI_Allreduce(&change, residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (*residual < p.tolerance)
            break;
    }
    return step;
}

static double total_heat(const struct part *part)
{
    double mine = 0.0, all = 0.0;

    for (long i = 1; i <= part->count; i++)
        mine += part->value[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, ranks;

    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        printf(
            "Usage: stencil [CELLS [STEPS]]\n"
            "Solves the heat equation on a rod of CELLS cells (100000) for STEPS steps (1000).\n");
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    struct parameters p = share(parse(argc, argv));
    if (p.cells < ranks || p.steps < 1) {
        if (rank == 0)
            fprintf(stderr, "stencil: CELLS must be at least the number of ranks (%d), STEPS 1\n",
                    ranks);
        MPI_Finalize();
        return 64;
    }

    struct part part = make_part(p.cells, rank, ranks);
    double residual = 0.0;
    long steps = solve(&part, p, &residual);
    double heat = total_heat(&part);
    if (rank == 0)
        printf("%ld cells, %d ranks, %ld steps: heat %.6f, residual %.3e\n", p.cells, ranks, steps,
               heat, residual);

    free(part.value);
    free(part.next);
    MPI_Finalize();
    return 0;
}
