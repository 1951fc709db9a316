/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the system's log. */
#ifndef SCOPE_SYSTEM_LOG_H
#define SCOPE_SYSTEM_LOG_H

/* Says the line on stderr and to the system's log, if that takes it at once: syslog(3) would wait
 * for a daemon that does not read. Control characters become '?'. */
void system_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
