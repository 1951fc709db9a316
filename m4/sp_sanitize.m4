# SPDX-License-Identifier: BSD-3-Clause
# What the compiler can watch a test program with.

# SP_SANITIZE: sets SANITIZE_CFLAGS to the sanitizers' flags and THREAD_SANITIZE_CFLAGS to those of
# ThreadSanitizer; empty without them and in a cross build, for an emulator does not run such programs.
AC_DEFUN([SP_SANITIZE], [
  AC_CACHE_CHECK([for sanitizers], [sp_cv_sanitize], [
    sp_cv_sanitize=no
    sp_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=address,undefined"
    AS_IF([test "$cross_compiling" != yes],
      [AC_RUN_IFELSE([AC_LANG_PROGRAM()], [sp_cv_sanitize=yes], [], [:])])
    CFLAGS=$sp_saved_cflags
  ])
  SANITIZE_CFLAGS=
  AS_IF([test "$sp_cv_sanitize" = yes],
    [SANITIZE_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined"])
  AC_SUBST([SANITIZE_CFLAGS])

  # It warns of fences, which it does not know; where we use one the readers are other processes.
  AC_CACHE_CHECK([for ThreadSanitizer], [sp_cv_sanitize_thread], [
    sp_cv_sanitize_thread=no
    sp_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=thread -Wno-tsan"
    AS_IF([test "$cross_compiling" != yes],
      [AC_RUN_IFELSE([AC_LANG_PROGRAM()], [sp_cv_sanitize_thread=yes], [], [:])])
    CFLAGS=$sp_saved_cflags
  ])
  THREAD_SANITIZE_CFLAGS=
  AS_IF([test "$sp_cv_sanitize_thread" = yes],
    [THREAD_SANITIZE_CFLAGS="-fsanitize=thread -Wno-tsan"])
  AC_SUBST([THREAD_SANITIZE_CFLAGS])
])
