/* SPDX-License-Identifier: BSD-3-Clause */
/* The administrator's arguments: KEY=VALUE words behind the plugin's path in plugstack.conf. */
#include "spank/settings.h"

#include <stdio.h>
#include <string.h>

#include "schema/error.h"

static int take(struct settings *settings, const char *word, struct error *err)
{
    const struct {
        const char *key;
        char *path;
    } keys[] = {{"preload", settings->preload}, {"merge-tool", settings->merge_tool}};
    size_t length = strcspn(word, "=");
    if (word[length] == '\0')
        return error_set(err, "plugstack.conf: \"%s\" is not KEY=VALUE", word);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = word + length + 1;
        if (length != strlen(keys[i].key) || strncmp(word, keys[i].key, length) != 0)
            continue;
        if (*value != '/' || strlen(value) >= PATH_MAX)
            return error_set(err, "plugstack.conf: \"%s\": an absolute path is needed", word);
        strcpy(keys[i].path, value);
        return 0;
    }
    return error_set(err, "plugstack.conf: unknown key \"%.*s\"; the keys are: preload, merge-tool",
                     (int)length, word);
}

void settings_read(struct settings *settings, int argc, char *argv[], settings_complain *complain)
{
    snprintf(settings->preload, sizeof settings->preload, "%s", SP_PRELOAD_PATH);
    snprintf(settings->merge_tool, sizeof settings->merge_tool, "%s", SP_MERGE_PATH);
    for (int i = 0; i < argc; i++) {
        struct error err;
        if (take(settings, argv[i], &err) < 0)
            complain(err.text);
    }
}
