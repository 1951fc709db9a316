/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin reads besides programs: its settings, commands that change the root, lists. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/command_text.h"
#include "spank/multi_prog.h"
#include "spank/root_change.h"
#include "spank/run_place.h"
#include "spank/settings.h"

static struct error err;

/* --- settings ------------------------------------------------------------------------------------
 */

static struct settings settings;
static char complaints[4096];

static void complain(const char *message)
{
    strcat(strcat(complaints, message), "\n");
}

Test(settings, paths_are_taken)
{
    char *words[] = {"preload=/opt/lib.so", "merge-tool=/opt/my=merge"};
    settings_read(&settings, 2, words, complain);
    cr_expect_str_eq(settings.preload, "/opt/lib.so");
    cr_expect_str_eq(settings.merge_tool, "/opt/my=merge");
    cr_expect_str_empty(complaints);
}

Test(settings, what_is_not_understood_is_named_and_the_rest_works)
{
    char *words[] = {"colour=red", "preload", "preload=lib.so", "Merge-Tool=/x",
                     "merge-tool=/opt/merge"};
    settings_read(&settings, 5, words, complain);
    cr_expect_str_eq(settings.preload, SP_PRELOAD_PATH);
    cr_expect_str_eq(settings.merge_tool, "/opt/merge");
    cr_expect_str_eq(
        complaints,
        "plugstack.conf: unknown key \"colour\"; the keys are: preload, merge-tool\n"
        "plugstack.conf: \"preload\" is not KEY=VALUE\n"
        "plugstack.conf: \"preload=lib.so\": an absolute path is needed\n"
        "plugstack.conf: unknown key \"Merge-Tool\"; the keys are: preload, merge-tool\n");
}

/* --- commands that change the root ---------------------------------------------------------------
 */

#define LIBRARY "/etc/passwd" /* some file that is there */

static int check(const char *command)
{
    static char words[256];
    char *argv[16];
    int argc = 0;
    strcpy(words, command);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    err.text[0] = '\0';
    return root_change_check(argc, argv, LIBRARY, &err);
}

Test(root_change, other_commands_keep_the_root)
{
    cr_expect_eq(check("./app chroot /nowhere"), 0);
    cr_expect_eq(check("bash -c x"), 0);
    cr_expect_eq(check("unshare -m ./app"), 0);
    cr_expect_eq(check("chroot"), 0); /* will print its usage */
}

Test(root_change, the_new_root_is_looked_into)
{
    cr_expect_eq(check("/usr/sbin/chroot / sh"), 0);
    cr_expect_eq(check("chroot --userspec=a:b -- /nowhere sh"), -1);
    cr_expect_str_eq(err.text, "chroot: in /nowhere there is no /etc/passwd");
    cr_expect_eq(check("chroot /nowhere"), -1);
    cr_expect_eq(check("unshare -rR /nowhere sh"), -1);
    cr_expect_eq(check("unshare -rR/nowhere sh"), -1);
    cr_expect_eq(check("unshare --root=/nowhere sh"), -1);
    cr_expect_eq(check("unshare --root /nowhere sh"), -1);
    cr_expect_str_eq(err.text, "unshare: in /nowhere there is no /etc/passwd");
    cr_expect_eq(check("unshare -R / sh"), 0);
    cr_expect_eq(check("unshare -m -r /sbin/chroot /nowhere sh"), -1);
}

Test(root_change, container_runtimes_are_left_alone)
{
    cr_expect_eq(check("/opt/bin/apptainer exec image.sif ./app"), -1);
    cr_expect_str_eq(err.text, "/opt/bin/apptainer may run the program in another root directory");
    cr_expect_eq(check("podman run x"), -1);
}

/* --- lists of programs ---------------------------------------------------------------------------
 */

static const char *program_of(const char *list, uint32_t task)
{
    static char program[16];
    return multi_prog_find(list, task, program, sizeof program) == 0 ? program : NULL;
}

Test(multi_prog, the_first_line_that_holds_the_task_counts)
{
    const char *list = "# a comment\n\n  0,2-3\t./a %t\n4 ./b\n4 ./c\n* ./d x\n";
    cr_expect_str_eq(program_of(list, 0), "./a");
    cr_expect_str_eq(program_of(list, 1), "./d");
    cr_expect_str_eq(program_of(list, 3), "./a");
    cr_expect_str_eq(program_of(list, 4), "./b");
    cr_expect_str_eq(program_of("0 ./last", 0), "./last");
}

Test(multi_prog, what_is_no_list_names_no_program)
{
    cr_expect_null(program_of("", 0));
    cr_expect_null(program_of("0", 0));
    cr_expect_null(program_of("0 \n1 ./a\n", 0));
    cr_expect_null(program_of("import sys\nprint(1)\n", 0));
    cr_expect_null(program_of("0- ./a\n", 0));
    cr_expect_null(program_of("99999999999999999999999-1 ./a\n", 1));
    cr_expect_null(program_of("0 'my app'\n", 0));
    cr_expect_null(program_of("0 ./a-name-that-is-too-long\n", 0));
}

/* --- where a run goes ----------------------------------------------------------------------------
 */

Test(run_place, srun_and_slurmstepd_agree_from_any_directory)
{
    char odd[] = "/tmp/run%place-XXXXXX", pattern[4096], path[4096], expected[4200];
    struct run_names names = {.job = "17", .step = "3", .user = "ada"};
    cr_assert_not_null(mkdtemp(odd));
    cr_assert_eq(chdir(odd), 0);
    cr_assert_eq(run_place_parent("out-%u", pattern, sizeof pattern, &err), 0);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(run_place_directory(pattern, &names, NULL, path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/out-ada/scope-profile-17.3", odd);
    cr_expect_str_eq(path, expected);

    cr_assert_eq(chdir(odd), 0);
    cr_assert_eq(run_place_parent("", pattern, sizeof pattern, &err), 0);
    cr_assert_eq(run_place_directory(pattern, &names, "2", path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/scope-profile-17.3-r2", odd);
    cr_expect_str_eq(path, expected);
    rmdir(odd);
}

Test(run_place, no_path_is_cut)
{
    char pattern[64];
    cr_assert_eq(chdir("/tmp"), 0);
    cr_expect_eq(run_place_parent("/123456", pattern, 8, &err), 0);
    cr_expect_eq(run_place_parent("/1234567", pattern, 8, &err), -1);
    cr_expect_eq(run_place_parent("a", pattern, 4, &err), -1);
    cr_expect_eq(run_place_parent("", pattern, 3, &err), -1);
    cr_expect_eq(run_place_parent("", pattern, sizeof pattern, &err), 0);
}

/* --- a command as text ---------------------------------------------------------------------------
 */

Test(command_text, words_are_joined_and_cut)
{
    char *words[] = {"./app", "", "a b", "x"}, text[64], small[8], one[1];
    command_text(4, words, text, sizeof text);
    cr_expect_str_eq(text, "./app  a b x");
    command_text(4, words, small, sizeof small);
    cr_expect_str_eq(small, "./app  ");
    command_text(4, words, one, sizeof one);
    cr_expect_str_empty(one);
    command_text(0, words, text, sizeof text);
    cr_expect_str_empty(text);
}
