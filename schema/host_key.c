/* SPDX-License-Identifier: BSD-3-Clause */
/* A name for those that read the same CLOCK_MONOTONIC. */
#define _GNU_SOURCE
#include "schema/host_key.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_line(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

void host_key_read(char *key, size_t size)
{
    char boot[64], namespace[64], host[64] = "";
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    ssize_t length = readlink("/proc/self/ns/time", namespace, sizeof namespace - 1);
    namespace[length > 0 ? length : 0] = '\0';
    gethostname(host, sizeof host - 1);
    snprintf(key, size, "%s %s %s", boot, namespace, host);
}
