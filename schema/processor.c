/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor of this host, as the kernel tells it. */
#include "schema/processor.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SOCKETS_MAX = 1024 };

static int read_number(const char *path)
{
    int number = -1;
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%d", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

void processor_model(char model[static PROCESSOR_MODEL_SIZE])
{
    static const char key[] = "model name";
    char line[PROCESSOR_MODEL_SIZE];
    FILE *file = fopen("/proc/cpuinfo", "re");
    model[0] = '\0';
    while (file && model[0] == '\0' && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, key, strlen(key)) == 0 ? strchr(line, ':') : NULL;
        if (colon && colon[1] == ' ')
            memcpy(model, colon + 2, strlen(colon + 2) + 1);
        model[strcspn(model, "\n")] = '\0';
    }
    if (file)
        fclose(file);
}

int processor_socket(unsigned cpu)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    return read_number(path);
}

size_t processor_count_sockets(void)
{
    bool is_seen[SOCKETS_MAX] = {false};
    size_t sockets = 0;
    glob_t cpus = {0};
    glob("/sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id", 0, NULL, &cpus);
    for (size_t i = 0; i < cpus.gl_pathc; i++) {
        int socket = read_number(cpus.gl_pathv[i]);
        if (socket < 0 || socket >= SOCKETS_MAX)
            continue;
        sockets += !is_seen[socket];
        is_seen[socket] = true;
    }
    globfree(&cpus);
    return sockets;
}

size_t processor_count_numa_nodes(void)
{
    glob_t nodes = {0};
    glob("/sys/devices/system/node/node[0-9]*", 0, NULL, &nodes);
    size_t count = nodes.gl_pathc;
    globfree(&nodes);
    return count;
}
