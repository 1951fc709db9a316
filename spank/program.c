/* SPDX-License-Identifier: BSD-3-Clause */
/* The program a task is about to run: found, looked at, and fit for a preload library or not. */
#include "spank/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "spank/elf_check.h"

enum {
    FIRST_LINE_MAX = 256, /* the kernel reads no more of a script's first line */
    SCRIPTS_MAX = 5       /* scripts that are interpreted by scripts: as many as the kernel takes */
};

static bool is_executable(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 && S_ISREG(status.st_mode) && access(file, X_OK) == 0;
}

bool program_find(const char *name, const char *path, char *file, size_t size)
{
    if (strchr(name, '/'))
        return strlen(name) < size && is_executable(strcpy(file, name));
    if (*name == '\0' || !path)
        return false;
    for (const char *p = path;; p++) {
        size_t length = strcspn(p, ":");
        int written = snprintf(file, size, "%.*s%s%s", (int)length, p, length ? "/" : "", name);
        if (written > 0 && (size_t)written < size && is_executable(file))
            return true;
        p += length;
        if (*p == '\0')
            return false;
    }
}

static int refuse(struct error *reason, const char *name, const char *interpreter, const char *why)
{
    if (interpreter)
        return error_set(reason, "%s: its interpreter %s %s", name, interpreter, why);
    return error_set(reason, "%s %s", name, why);
}

/* Why ld.so would ignore a preload library, or the reason that elf_check gives. */
static const char *check_program_file(int fd, const struct stat *status)
{
    if (status->st_mode & (S_ISUID | S_ISGID))
        return "runs with the rights of its owner (set-user-ID or set-group-ID)";
    if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    return elf_check(fd);
}

/* Cuts the next word off *text: blanks end it. NULL: there is none. */
static char *next_word(char **text)
{
    char *word = *text + strspn(*text, " \t");
    if (*word == '\0')
        return NULL;
    *text = word + strcspn(word, " \t");
    if (**text != '\0')
        *(*text)++ = '\0';
    return word;
}

/* What env runs, given the one argument that a script's first line can hand to it. */
static const char *env_program(char *argument)
{
    char *word;
    if (argument[0] != '-')
        return argument;
    if (argument[1] == 'S')
        argument += 2;
    while ((word = next_word(&argument))) {
        if (*word != '-' && !strchr(word, '='))
            return word;
    }
    return NULL;
}

/* Splits "#!INTERPRETER ARGUMENT" as the kernel does. NULL: no interpreter is named.
 * *argument is "" where there is none. */
static char *split_first_line(char *line, char **argument)
{
    char *text = line + 2;
    line[strcspn(line, "\n")] = '\0';
    char *interpreter = next_word(&text);
    if (!interpreter)
        return NULL;
    *argument = text + strspn(text, " \t");
    for (char *end = *argument + strlen(*argument);
         end > *argument && (end[-1] == ' ' || end[-1] == '\t');)
        *--end = '\0';
    return interpreter;
}

static bool is_env(const char *file)
{
    const char *slash = strrchr(file, '/');
    return strcmp(slash ? slash + 1 : file, "env") == 0;
}

/* Opens an executable. Returns -1 with reason set or left empty. */
static int open_program(const char *name, const char *interpreter, const char *file,
                        struct stat *status, struct error *reason)
{
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || errno == EPERM
                   ? refuse(reason, name, interpreter, "may be run but not be read")
                   : -1;
    if (fstat(fd, status) < 0 || !S_ISREG(status->st_mode)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The start of the file in line, terminated; the number of bytes read. */
static size_t read_first_line(int fd, char line[static FIRST_LINE_MAX + 1])
{
    ssize_t got = pread(fd, line, FIRST_LINE_MAX, 0);
    size_t length = got > 0 ? (size_t)got : 0;
    line[length] = '\0';
    return length;
}

static int check_file(const char *name, const char *interpreter, const char *path, int depth,
                      struct error *reason);

/* Checks the programs that the first line of a script starts. */
static int check_script(const char *name, char *line, const char *path, int depth,
                        struct error *reason)
{
    char *argument;
    const char *interpreter = split_first_line(line, &argument);
    if (!interpreter || depth == SCRIPTS_MAX)
        return -1;
    char here[PATH_MAX];
    if (!strchr(interpreter, '/')) { /* the kernel does not look along PATH */
        snprintf(here, sizeof here, "./%s", interpreter);
        interpreter = here;
    }
    if (check_file(name, interpreter, path, depth + 1, reason) < 0)
        return -1;
    if (!is_env(interpreter) || *argument == '\0')
        return 0;
    const char *program = env_program(argument);
    return program ? check_file(name, program, path, depth + 1, reason) : 0;
}

/* Checks interpreter, or name itself where that is NULL. */
static int check_file(const char *name, const char *interpreter, const char *path, int depth,
                      struct error *reason)
{
    char file[PATH_MAX], line[FIRST_LINE_MAX + 1];
    struct stat status;
    if (!program_find(interpreter ? interpreter : name, path, file, sizeof file))
        return -1;
    int fd = open_program(name, interpreter, file, &status, reason);
    if (fd < 0)
        return -1;
    int result = 0;
    if (read_first_line(fd, line) >= 2 && line[0] == '#' && line[1] == '!') {
        result = check_script(name, line, path, depth, reason);
    } else {
        const char *why = check_program_file(fd, &status);
        if (why)
            result = refuse(reason, name, interpreter, why);
    }
    close(fd);
    return result;
}

int program_check(const char *name, const char *path, struct error *reason)
{
    reason->text[0] = '\0';
    return check_file(name, NULL, path, 0, reason);
}
