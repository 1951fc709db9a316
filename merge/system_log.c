/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the system's log. */
#define _GNU_SOURCE
#include "merge/system_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

enum { LINE_SIZE = 2048 };

static void send_line(const char *line)
{
    struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    char message[LINE_SIZE + 64];
    int length = snprintf(message, sizeof message, "<%d>scope-profile[%ld]: %s",
                          LOG_DAEMON | LOG_INFO, (long)getpid(), line);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)&log, sizeof log) == 0)
        send(fd, message, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

void system_log(const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *p = line; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    }
    fprintf(stderr, "scope-profile: %s\n", line);
    send_line(line);
}
