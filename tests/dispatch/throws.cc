// SPDX-License-Identifier: BSD-3-Clause
// A C++ program whose callback throws through the MPI library, and goes on.
#include <cstdio>
#include <stdexcept>

#include "tests/dispatch/standin.h"

static void thrower()
{
    throw std::runtime_error("out of an MPI call");
}

int main()
{
    int caught = 0;
    MPI_Init(nullptr, nullptr);
    for (int i = 0; i < 10; i++) {
        standin_state()->callback = thrower;
        try {
            MPI_Allreduce(nullptr, nullptr, 1, MPI_INT, 0, MPI_COMM_WORLD);
        } catch (const std::runtime_error &) {
            caught++;
        }
        standin_state()->callback = nullptr;
        for (int k = 0; k < 10; k++)
            MPI_Send(nullptr, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    }
    MPI_Allreduce(nullptr, nullptr, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    std::printf("allreduce 11\nsend 100\n");
    return caught == 10 ? 0 : 1;
}
