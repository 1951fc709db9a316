/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi-calls=... picks functions by kind, and local ones only with all. */
#include "preload/selection.h"

#include <criterion/criterion.h>

static bool picks(const char *what, enum mpi_function function)
{
    struct selection selection = selection_read(what);
    return selection_has(&selection, function);
}

Test(selection, alone_it_picks_what_moves_or_waits)
{
    static const char *const texts[] = {NULL, "mpi-calls", "out=mpi-calls=all,mpi-calls"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_expect(picks(texts[i], FUNCTION_MPI_Send));
        cr_expect(picks(texts[i], FUNCTION_MPI_Put));
        cr_expect(picks(texts[i], FUNCTION_MPI_File_open));
        cr_expect(picks(texts[i], FUNCTION_MPI_Comm_split));
        cr_expect_not(picks(texts[i], FUNCTION_MPI_Comm_rank));
        cr_expect_not(picks(texts[i], FUNCTION_MPI_Type_commit));
    }
}

Test(selection, all_adds_local_functions)
{
    cr_expect(picks("out=a\\,b,mpi-calls=all", FUNCTION_MPI_Comm_rank));
    cr_expect(picks("mpi-calls=all,merge=off", FUNCTION_MPI_Send));
    cr_expect_not(picks("out=x\\,mpi-calls=all", FUNCTION_MPI_Comm_rank), "an escaped comma");
}

Test(selection, kinds_pick_their_functions_alone)
{
    const char *what = "merge=off,mpi-calls=point-to-point+io,out=x";
    cr_expect(picks(what, FUNCTION_MPI_Isend_c));
    cr_expect(picks(what, FUNCTION_MPI_File_iread_at));
    cr_expect_not(picks(what, FUNCTION_MPI_Bcast));
    cr_expect_not(picks(what, FUNCTION_MPI_Wait));
    cr_expect_not(picks(what, FUNCTION_MPI_File_seek), "local");
}

Test(selection, poll_picks_what_may_find_nothing)
{
    cr_expect(picks("mpi-calls=poll", FUNCTION_MPI_Testsome));
    cr_expect(picks("mpi-calls=poll", FUNCTION_MPI_Iprobe));
    cr_expect(picks("mpi-calls=poll", FUNCTION_MPI_Win_test));
    cr_expect_not(picks("mpi-calls=poll", FUNCTION_MPI_Wait));
    cr_expect_not(picks("mpi-calls=poll", FUNCTION_MPI_Send));
}
