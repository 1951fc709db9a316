/* SPDX-License-Identifier: BSD-3-Clause */
/* The administrator's arguments: KEY=VALUE words behind the plugin's path in plugstack.conf. */
#include "spank/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/error.h"
#include "schema/registry.h"
#include "schema/size_text.h"
#include "spank/tools.h"

enum {
    SECONDS_MAX = 24 * 3600,
    SPOOL_SECONDS_MAX = 40, /* Slurm drains a node whose tasks it cannot end in 60 */
    THREADS_MAX = 256,
};

/* A word and what is wrong with its value. */
static int refuse(const char *word, const char *reason, struct error *err)
{
    return error_set(err, "plugstack.conf: \"%s\": %s", word, reason);
}

static int take_path(char path[static PATH_MAX], const char *word, const char *value,
                     struct error *err)
{
    if (*value != '/' || strlen(value) >= PATH_MAX)
        return refuse(word, "an absolute path is needed", err);
    strcpy(path, value);
    return 0;
}

static int take_list(char list[static SETTINGS_LIST_MAX], const char *word, const char *value,
                     struct error *err)
{
    if (strlen(value) >= SETTINGS_LIST_MAX)
        return refuse(word, "the list is too long", err);
    strcpy(list, value);
    return 0;
}

static int take_tools(struct settings *settings, const char *word, const char *value,
                      struct error *err)
{
    struct error reason;
    if (tools_check(value, &reason) < 0)
        return refuse(word, reason.text, err);
    return take_list(settings->qmpi_tools, word, value, err);
}

static int take_default(struct settings *settings, const char *word, const char *value,
                        struct error *err)
{
    struct options options;
    struct error reason;
    if (options_parse(&options, value, &reason) < 0)
        return refuse(word, reason.text, err);
    if (options.help)
        return refuse(word, "help is for command lines", err);
    if (options.likwid)
        return refuse(word, "likwid= is the users' own choice", err);
    strcpy(settings->what, value);
    return 0;
}

/* A word of WHAT. The comma that WHAT would take for the end of a directory's name is escaped. */
static int take_word(struct settings *settings, const char *word, struct error *err)
{
    char text[OPTIONS_TEXT_MAX] = "mpi-calls,";
    size_t length = strlen(text), before = length - 1;
    struct options options;
    struct error reason;
    for (const char *p = word; *p; p++) {
        if (length + 3 > sizeof text)
            return refuse(word, "too long", err);
        if (*p == ',' || *p == '\\')
            text[length++] = '\\';
        text[length++] = *p;
    }
    text[length] = '\0';
    if (options_parse(&options, text, &reason) < 0)
        return refuse(word, reason.text, err);
    if (options.out[0] && options.out[0] != '/')
        return refuse(word, "an absolute path is needed", err);
    size_t used = strlen(settings->words);
    if (used + length - before >= sizeof settings->words)
        return refuse(word, "too many words", err);
    strcpy(settings->words + used, text + before);
    return 0;
}

static int take_number(uint32_t *number, uint32_t most, const char *word, const char *value,
                       struct error *err)
{
    char *end;
    struct error reason;
    unsigned long read = strtoul(value, &end, 10);
    error_set(&reason, "a number from 1 to %u is needed", (unsigned)most);
    if (*value < '0' || *value > '9' || *end || read < 1 || read > most)
        return refuse(word, reason.text, err);
    *number = (uint32_t)read;
    return 0;
}

static int take_choice(bool *choice, const char *word, const char *value, struct error *err)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return refuse(word, "yes or no is needed", err);
    *choice = strcmp(value, "yes") == 0;
    return 0;
}

static int take_size(uint64_t *size, const char *word, const char *value, struct error *err)
{
    return size_text_read(value, strlen(value), size)
               ? 0
               : refuse(word, "a size is needed, with K, M, G or T behind it", err);
}

static int take(struct settings *settings, const char *word, struct error *err)
{
    const char *value = strchr(word, '=');
    if (!value)
        return error_set(err, "plugstack.conf: \"%s\" is not KEY=VALUE", word);
    size_t length = (size_t)(value++ - word);
    const struct {
        const char *key;
        char *path, *list;
        uint32_t *number, most;
        uint64_t *size;
        bool *choice;
    } keys[] = {
        {"preload", .path = settings->preload},
        {"merge-tool", .path = settings->merge_tool},
        {"registry", .path = settings->registry},
        {"spool", .path = settings->spool},
        {"default", .path = NULL},
        {"out", .path = NULL},
        {"merge", .path = NULL},
        {"max-run", .path = NULL},
        {"max-file", .path = NULL},
        {"likwid", .choice = &settings->likwid},
        {"deny-partition", .list = settings->deny_partition},
        {"allow-user", .list = settings->allow_user},
        {"qmpi-tools", .list = settings->qmpi_tools},
        {"epilog-timeout", .number = &settings->epilog.timeout_s, .most = SECONDS_MAX},
        {"epilog-detach", .choice = &settings->epilog.detaches},
        {"spool-size", .size = &settings->spool_size},
        {"spool-timeout", .number = &settings->spool_timeout, .most = SPOOL_SECONDS_MAX},
        {"merge-wait", .number = &settings->epilog.wait_s, .most = SECONDS_MAX},
        {"merge-threads", .number = &settings->epilog.threads, .most = THREADS_MAX},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (length != strlen(keys[i].key) || strncmp(word, keys[i].key, length) != 0)
            continue;
        if (keys[i].path)
            return take_path(keys[i].path, word, value, err);
        if (keys[i].list == settings->qmpi_tools)
            return take_tools(settings, word, value, err);
        if (keys[i].list)
            return take_list(keys[i].list, word, value, err);
        if (keys[i].number)
            return take_number(keys[i].number, keys[i].most, word, value, err);
        if (keys[i].size)
            return take_size(keys[i].size, word, value, err);
        if (keys[i].choice)
            return take_choice(keys[i].choice, word, value, err);
        return strcmp(keys[i].key, "default") == 0 ? take_default(settings, word, value, err)
                                                   : take_word(settings, word, err);
    }
    return error_set(err,
                     "plugstack.conf: unknown key \"%.*s\"; the keys are: preload, merge-tool, "
                     "registry, default, out, merge, max-run, max-file, likwid, deny-partition, "
                     "allow-user, qmpi-tools, epilog-timeout, epilog-detach, spool, spool-size, "
                     "spool-timeout, merge-wait, merge-threads",
                     (int)length, word);
}

void settings_read(struct settings *settings, int argc, char *argv[], settings_complain *complain)
{
    *settings = (struct settings){
        .registry = REGISTRY_DIRECTORY,
        .epilog = EPILOG_TERMS_DEFAULT,
        .likwid = true,
        .spool_timeout = 30,
    };
    snprintf(settings->preload, sizeof settings->preload, "%s", SP_PRELOAD_PATH);
    snprintf(settings->merge_tool, sizeof settings->merge_tool, "%s", SP_MERGE_PATH);
    snprintf(settings->likwid_tool, sizeof settings->likwid_tool, "%s", SP_LIKWID_TRY_PATH);
    for (int i = 0; i < argc; i++) {
        struct error err;
        if (take(settings, argv[i], &err) < 0)
            complain(err.text);
    }
}

bool settings_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (length > 0 && *list) {
        size_t entry = strcspn(list, ",");
        if (entry == length && strncmp(list, name, length) == 0)
            return true;
        list += entry + (list[entry] == ',');
    }
    return false;
}

/* The length of the word, up to the comma that ends it. */
static size_t word_length(const char *word)
{
    size_t length = 0;
    while (word[length] && word[length] != ',')
        length += word[length] == '\\' && word[length + 1] ? 2 : 1;
    return length;
}

void settings_complete(const struct settings *settings, char what[static OPTIONS_TEXT_MAX])
{
    const char *word = settings->words;
    while (*word == ',') {
        char name[32];
        size_t length = word_length(word + 1), given, used = strlen(what);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 1, "="), word + 1);
        if (!options_value(what, name, &given) && used + length + 1 < OPTIONS_TEXT_MAX) {
            memcpy(what + used, word, length + 1);
            what[used + length + 1] = '\0';
        }
        word += length + 1;
    }
}
