/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that run a program in another root directory, where a path means another file. */
#include "spank/root_change.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static int check_root(const char *command, const char *root, const char *library,
                      struct error *reason)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s", root, library);
    if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0)
        return 0;
    return error_set(reason, "%s: in %s there is no %s", command, root, library);
}

/* chroot [--OPTION[=VALUE]]... ROOT [COMMAND [ARGUMENT]...] */
static const char *chroot_root(int argc, char *const argv[])
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (argv[i][0] != '-')
            return argv[i];
    }
    return NULL;
}

/* unshare [OPTION]... [PROGRAM [ARGUMENT]...]: -R ROOT, -RROOT, -mR ROOT, --root ROOT, --root=ROOT.
 * *program becomes the index of the first word that is no option, which may be an option's value:
 * no harm, since it only serves to find a chroot. */
static const char *unshare_root(int argc, char *const argv[], int *program)
{
    for (*program = 1; *program < argc && argv[*program][0] == '-'; ++*program) {
        const char *word = argv[*program], *next = *program + 1 < argc ? argv[*program + 1] : NULL;
        if (strncmp(word, "--root", 6) == 0)
            return word[6] == '=' ? word + 7 : next;
        const char *letter = word[1] == '-' ? NULL : strchr(word, 'R');
        if (letter)
            return letter[1] ? letter + 1 : next;
    }
    return NULL;
}

int root_change_check(int argc, char *const argv[], const char *library, struct error *reason)
{
    static const char *const containers[] = {"apptainer",    "singularity", "ch-run",  "shifter",
                                             "podman",       "docker",      "udocker", "enroot",
                                             "bwrap",        "proot",       "runc",    "crun",
                                             "charliecloud", "sarus",       "nsenter", NULL};
    if (argc < 1)
        return 0;
    const char *name = base_name(argv[0]), *root = NULL;
    if (is_one_of(name, containers))
        return error_set(reason, "%s may run the program in another root directory", argv[0]);
    if (strcmp(name, "chroot") == 0) {
        root = chroot_root(argc, argv);
    } else if (strcmp(name, "unshare") == 0) {
        int program;
        root = unshare_root(argc, argv, &program);
        if (!root && program < argc)
            return root_change_check(argc - program, argv + program, library, reason);
    }
    return root ? check_root(argv[0], root, library, reason) : 0;
}
