# SPDX-License-Identifier: BSD-3-Clause
# Finds MPI compilers and tells their families apart.

# SP_FIND_MPI: sets MPICC_OPENMPI and MPICC_MPICH from --with-mpi or the usual names.
AC_DEFUN([SP_FIND_MPI], [
  AS_CASE([$with_mpi],
    [no], [sp_mpi_list=],
    [auto|yes], [sp_mpi_list="mpicc.openmpi mpicc.mpich mpicc"],
    [sp_mpi_list=$(echo "$with_mpi" | tr , ' ')])
  for sp_mpi in $sp_mpi_list; do
    AS_UNSET([sp_mpicc])
    AS_CASE([$sp_mpi],
      [*/*], [AS_IF([test -x "$sp_mpi"], [sp_mpicc=$sp_mpi])],
      [sp_mpicc=$(command -v "$sp_mpi" 2>/dev/null)])
    AS_IF([test -z "$sp_mpicc"],
      [AS_IF([test "$with_mpi" != auto && test "$with_mpi" != yes],
        [AC_MSG_ERROR([--with-mpi: there is no compiler $sp_mpi])])
      continue])
    # From a file: read from standard input, Open MPI's wrapper drops its -I.
    printf '%s\n' '#include <mpi.h>' '#ifdef OPEN_MPI' 'sp_family openmpi' '#elif defined MPICH_VERSION' \
      'sp_family mpich' '#endif' > conftest.c
    sp_family=$("$sp_mpicc" -E conftest.c 2>/dev/null | sed -n 's/^sp_family //p')
    rm -f conftest.c
    AS_CASE([$sp_family],
      [openmpi], [AS_IF([test -z "$MPICC_OPENMPI"], [MPICC_OPENMPI=$sp_mpicc])],
      [mpich], [AS_IF([test -z "$MPICC_MPICH"], [MPICC_MPICH=$sp_mpicc])],
      [AC_MSG_WARN([$sp_mpicc is of an MPI family we do not know and is not used])])
  done
  AC_SUBST([MPICC_OPENMPI])
  AC_SUBST([MPICC_MPICH])
  AM_CONDITIONAL([HAVE_OPENMPI], [test -n "$MPICC_OPENMPI"])
  AM_CONDITIONAL([HAVE_MPICH], [test -n "$MPICC_MPICH"])
])
