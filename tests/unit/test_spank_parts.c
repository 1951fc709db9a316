/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's parts: settings, words that change the root, lists, the child for exit records. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/command_text.h"
#include "spank/bounded_child.h"
#include "spank/exit_child.h"
#include "spank/multi_prog.h"
#include "spank/node_done.h"
#include "spank/root_change.h"
#include "spank/run_place.h"
#include "spank/settings.h"
#include "spank/tools.h"

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

Test(settings, the_terms_of_the_epilog_are_taken)
{
    char *words[] = {"registry=/run/x", "epilog-timeout=5", "epilog-detach=yes", "merge-wait=7",
                     "merge-threads=2"};
    settings_read(&settings, 0, words, complain);
    cr_expect_str_eq(settings.registry, "/run/scope-profile");
    cr_expect_eq(settings.epilog.timeout_s, 30);
    cr_expect_eq(settings.epilog.wait_s, 30);
    cr_expect_eq(settings.epilog.threads, 1);
    cr_expect_not(settings.epilog.detaches);
    settings_read(&settings, 5, words, complain);
    cr_expect_str_empty(complaints);
    cr_expect_str_eq(settings.registry, "/run/x");
    cr_expect_eq(settings.epilog.timeout_s, 5);
    cr_expect_eq(settings.epilog.wait_s, 7);
    cr_expect_eq(settings.epilog.threads, 2);
    cr_expect(settings.epilog.detaches);
}

Test(settings, the_spool_is_taken)
{
    char *words[] = {"spool=/var/spool/x", "spool-size=2G", "spool-timeout=5"};
    settings_read(&settings, 0, words, complain);
    cr_expect_str_empty(settings.spool);
    cr_expect_eq(settings.spool_timeout, 30);
    settings_read(&settings, 3, words, complain);
    cr_expect_str_empty(complaints);
    cr_expect_str_eq(settings.spool, "/var/spool/x");
    cr_expect_eq(settings.spool_size, UINT64_C(2) << 30);
    cr_expect_eq(settings.spool_timeout, 5);
    char *bad[] = {"spool=x", "spool-size=much", "spool-timeout=0", "spool-timeout=41"};
    settings_read(&settings, 4, bad, complain);
    cr_expect_str_empty(settings.spool);
    cr_expect_eq(settings.spool_size, 0);
    cr_expect_eq(settings.spool_timeout, 30);
    cr_expect_not_null(strstr(complaints, "\"spool-size=much\": a size is needed"));
}

Test(settings, terms_that_cannot_be_have_no_effect)
{
    char *words[] = {"epilog-timeout=0",  "epilog-timeout=", "epilog-timeout=30s",
                     "epilog-timeout=-1", "merge-threads=257", "epilog-detach=true"};
    settings_read(&settings, 6, words, complain);
    cr_expect_eq(settings.epilog.timeout_s, 30);
    cr_expect_eq(settings.epilog.threads, 1);
    cr_expect_not(settings.epilog.detaches);
    cr_expect_not_null(strstr(complaints, "\"epilog-timeout=30s\": a number from 1 to 86400 is"));
    cr_expect_not_null(strstr(complaints, "\"epilog-detach=true\": yes or no is needed"));
}

Test(settings, words_complete_what_the_user_says)
{
    char *words[] = {"default=mpi-calls=all", "out=/scratch/a,b/%u", "merge=off", "max-run=1G",
                     "max-file=4G"};
    char what[OPTIONS_TEXT_MAX] = "mpi-calls,merge=srun";
    settings_read(&settings, 5, words, complain);
    cr_expect_str_empty(complaints);
    cr_expect_str_eq(settings.what, "mpi-calls=all");
    settings_complete(&settings, what);
    cr_expect_str_eq(what, "mpi-calls,merge=srun,out=/scratch/a\\,b/%u,max-run=1G,max-file=4G");
    settings_complete(&settings, what);
    cr_expect_str_eq(what, "mpi-calls,merge=srun,out=/scratch/a\\,b/%u,max-run=1G,max-file=4G");
    memset(what, 'x', sizeof what - 1);
    memcpy(what, "mpi-calls,out=/", 15);
    settings_complete(&settings, what);
    cr_expect_eq(strlen(what), sizeof what - 1);
}

Test(settings, words_that_cannot_be_have_no_effect)
{
    char *words[] = {"default=mpi-cals", "default=help", "out=relative",
                     "merge=never",      "max-run=big",  "out=/x/%N"};
    settings_read(&settings, 6, words, complain);
    cr_expect_str_empty(settings.what);
    cr_expect_str_empty(settings.words);
    int lines = 0;
    for (const char *p = complaints; *p; p++)
        lines += *p == '\n';
    cr_expect_eq(lines, 6, "%s", complaints);
}

Test(settings, counters_can_be_forbidden_and_not_forced)
{
    char *words[] = {"likwid=no", "likwid=CLOCK", "default=mpi-calls,likwid=CLOCK"};
    settings_read(&settings, 1, words, complain);
    cr_expect_not(settings.likwid);
    cr_expect_str_empty(complaints);
    settings_read(&settings, 2, words + 1, complain);
    cr_expect(settings.likwid);
    cr_expect_str_empty(settings.what);
    cr_expect(strstr(complaints, "yes or no is needed"));
    cr_expect(strstr(complaints, "likwid= is the users' own choice"));
}

Test(settings, lists_are_of_whole_names)
{
    cr_expect(settings_list_has("debug,long", "debug"));
    cr_expect(settings_list_has("debug,long", "long"));
    cr_expect_not(settings_list_has("debug,long", "lon"));
    cr_expect_not(settings_list_has("debug,long", "debug,long"));
    cr_expect_not(settings_list_has("", ""));
    cr_expect_not(settings_list_has("a,,b", ""));
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
        "plugstack.conf: unknown key \"colour\"; the keys are: preload, merge-tool, registry, "
        "default, out, merge, max-run, max-file, likwid, deny-partition, allow-user, qmpi-tools, "
        "epilog-timeout, epilog-detach, spool, spool-size, spool-timeout, merge-wait, merge-threads\n"
        "plugstack.conf: \"preload\" is not KEY=VALUE\n"
        "plugstack.conf: \"preload=lib.so\": an absolute path is needed\n"
        "plugstack.conf: unknown key \"Merge-Tool\"; the keys are: preload, merge-tool, registry, "
        "default, out, merge, max-run, max-file, likwid, deny-partition, allow-user, qmpi-tools, "
        "epilog-timeout, epilog-detach, spool, spool-size, spool-timeout, merge-wait, merge-threads\n");
}

/* --- QMPI tools --------------------------------------------------------------------------------- */

/* What WHAT becomes: the site says this, the user that. */
static const char *completed(const char *site, const char *given, enum tools_result expected)
{
    static char what[OPTIONS_TEXT_MAX];
    snprintf(what, sizeof what, "%s", given);
    err.text[0] = '\0';
    cr_expect_eq(tools_complete(site, what, &err), expected, "%s", err.text);
    return what;
}

static void no_variables(void)
{
    unsetenv("SCOPE_PROFILE_QMPI_TOOLS");
    unsetenv("SCOPE_PROFILE_QMPI_PATH");
    unsetenv("MPIR_CVAR_QMPI_TOOL_LIST");
}

Test(tools, words_and_variables_are_handed_on, .init = no_variables)
{
    cr_expect_str_eq(completed("", "mpi-calls", 0), "mpi-calls");
    cr_expect_str_eq(completed("", "qmpi=A+B,mpi-calls", 0), "mpi-calls,qmpi=A+B");
    setenv("MPIR_CVAR_QMPI_TOOL_LIST", "C:D:C", 1);
    cr_expect_str_eq(completed("", "mpi-calls", 0), "mpi-calls,qmpi=C+D+C");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", "A+A", 1);
    setenv("SCOPE_PROFILE_QMPI_PATH", "/x,y:/z", 1);
    cr_expect_str_eq(completed("", "mpi-calls,out=a", 0),
                     "mpi-calls,out=a,qmpi=A+A,qmpi-path=/x\\,y:/z");
    cr_expect_str_eq(completed("", "mpi-calls,qmpi=B,qmpi-path=/w", 0),
                     "mpi-calls,qmpi-path=/w,qmpi=B");
}

Test(tools, those_of_the_site_come_first, .init = no_variables)
{
    cr_expect_str_eq(completed("S+T", "mpi-calls", 0), "mpi-calls,qmpi=S+T");
    cr_expect_str_eq(completed("S", "mpi-calls,qmpi=scope+A,out=b", 0),
                     "mpi-calls,out=b,qmpi=S+scope+A");
}

Test(tools, a_site_may_forbid_them, .init = no_variables)
{
    cr_expect_str_eq(completed("off", "mpi-calls", 0), "mpi-calls,qmpi=scope");
    cr_expect_str_eq(completed("off", "mpi-calls,qmpi=A", TOOLS_WITHOUT_USERS),
                     "mpi-calls,qmpi=scope");
    cr_expect_str_eq(err.text, "this site does not let you load QMPI tools (qmpi-tools=off in "
                               "plugstack.conf)");
}

Test(tools, what_cannot_be_is_told_and_asks_for_none, .init = no_variables)
{
    char *words[] = {"qmpi-tools=S+T", "qmpi-tools=../x"};
    complaints[0] = '\0';
    settings_read(&settings, 2, words, complain);
    cr_expect_str_eq(settings.qmpi_tools, "S+T");
    cr_expect_str_eq(complaints, "plugstack.conf: \"qmpi-tools=../x\": \"../x\" cannot be the name "
                                 "of a QMPI tool\n");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", "A++B", 1);
    cr_expect_str_eq(completed("", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=scope");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", "A", 1);
    setenv("SCOPE_PROFILE_QMPI_PATH", "here", 1);
    cr_expect_str_eq(completed("", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=scope");
}

/* Fills a list with name+name+... of so many bytes. */
static const char *long_list(size_t length)
{
    static char list[2 * OPTIONS_TEXT_MAX];
    memset(list, 'n', length);
    for (size_t i = 100; i < length - 1; i += 101)
        list[i] = '+';
    list[length] = '\0';
    return list;
}

Test(tools, a_users_mistake_is_not_the_sites, .init = no_variables)
{
    setenv("SCOPE_PROFILE_QMPI_TOOLS", "A++B", 1);
    cr_expect_str_eq(completed("S", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", long_list(OPTIONS_TEXT_MAX - 10), 1);
    cr_expect_str_eq(completed("S", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", long_list(OPTIONS_TEXT_MAX + 20), 1);
    cr_expect_str_eq(completed("S", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S");
    cr_expect_str_eq(completed("off", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=scope");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", "A", 1);
    setenv("SCOPE_PROFILE_QMPI_PATH", "here", 1);
    cr_expect_str_eq(completed("S+T", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S+T");
    cr_expect_str_eq(completed("S,T", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S\\,T");
    no_variables();
    cr_expect_str_eq(completed("S", "mpi-calls,qmpi=scope+A", TOOLS_COMPLETE),
                     "mpi-calls,qmpi=S+scope+A");
    cr_expect_str_eq(completed("S+scope", "mpi-calls,qmpi=scope+A", TOOLS_WITHOUT_USERS),
                     "mpi-calls,qmpi=S+scope");
}

/* Of tools that are too many together, the site's stay. */
Test(tools, too_many_are_told, .init = no_variables)
{
    char users[4 * OPTIONS_TOOLS_MAX] = "A";
    for (int i = 1; i < OPTIONS_TOOLS_MAX; i++)
        strcat(users, "+A");
    setenv("SCOPE_PROFILE_QMPI_TOOLS", users, 1);
    cr_expect_eq(strlen(completed("", "mpi-calls", TOOLS_COMPLETE)),
                 strlen("mpi-calls,qmpi=") + strlen(users));
    cr_expect_str_eq(completed("S", "mpi-calls", TOOLS_WITHOUT_USERS), "mpi-calls,qmpi=S");
    cr_expect_str_eq(err.text, "there are more than 64 QMPI tools in the list");
}

/* Nor may a long WHAT leave the site no room. */
Test(tools, what_the_site_says_always_counts, .init = no_variables)
{
    char what[OPTIONS_TEXT_MAX] = "mpi-calls,qmpi-path=/";
    memset(what + strlen(what), 'x', sizeof what - strlen(what) - 4);
    cr_expect_str_eq(completed("off", what, TOOLS_NO_ROOM), what);
    cr_expect_str_eq(completed("S", what, TOOLS_NO_ROOM), what);
    cr_expect_str_eq(completed("", what, TOOLS_COMPLETE), what);
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
    cr_assert_eq(run_place_parent("out-%u", NULL, pattern, sizeof pattern, &err), 0);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(run_place_directory(pattern, &names, NULL, path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/out-ada/scope-profile-17.3", odd);
    cr_expect_str_eq(path, expected);

    cr_assert_eq(chdir(odd), 0);
    cr_assert_eq(run_place_parent("", NULL, pattern, sizeof pattern, &err), 0);
    cr_assert_eq(run_place_directory(pattern, &names, "2", path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/scope-profile-17.3-r2", odd);
    cr_expect_str_eq(path, expected);
    rmdir(odd);
}

Test(run_place, no_path_is_cut)
{
    char pattern[64];
    cr_assert_eq(chdir("/tmp"), 0);
    cr_expect_eq(run_place_parent("/123456", NULL, pattern, 8, &err), 0);
    cr_expect_eq(run_place_parent("/1234567", NULL, pattern, 8, &err), -1);
    cr_expect_eq(run_place_parent("a", NULL, pattern, 4, &err), -1);
    cr_expect_eq(run_place_parent("", NULL, pattern, 3, &err), -1);
    cr_expect_eq(run_place_parent("", NULL, pattern, sizeof pattern, &err), 0);
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

/* --- a child that is waited for, but not for ever ------------------------------------------------
 */

static volatile int *shared; /* with the child */

static void share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)shared, MAP_FAILED);
    *shared = 0;
}

static int count(const void *data)
{
    *shared += *(const int *)data;
    return 0;
}

static int hang(const void *data)
{
    (void)data;
    for (++*shared; pause() < 0;)
        ;
    return 0;
}

static int be_killed(const void *data)
{
    (void)data;
    ++*shared;
    return kill(getpid(), SIGKILL);
}

static bool is_null(int fd)
{
    struct stat found, null;
    return fstat(fd, &found) == 0 && stat("/dev/null", &null) == 0 && found.st_rdev == null.st_rdev;
}

/* Where a descriptor is open that the caller has, 100. */
static int look_for_descriptors(const void *data)
{
    const int *fd = data;
    *shared = fcntl(*fd, F_GETFD) < 0 && is_null(1) && is_null(2) ? 1 : 100;
    return 0;
}

static int raise_term(const void *data)
{
    (void)data;
    raise(SIGTERM);
    *shared = 1;
    return 0;
}

static void expect_no_child(void)
{
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
    cr_expect_eq(errno, ECHILD);
}

TestSuite(bounded_child, .init = share);

Test(bounded_child, it_works_and_is_waited_for)
{
    int five = 5;
    cr_expect_eq(bounded_child_run(count, &five, 60000), 0);
    cr_expect_eq(*shared, 5);
    expect_no_child();
}

static int fail(const void *data)
{
    (void)data;
    return -1;
}

Test(bounded_child, one_that_fails_is_told_from_one_that_does_not)
{
    cr_expect_eq(bounded_child_run(fail, NULL, 60000), 1);
    expect_no_child();
}

Test(bounded_child, one_that_hangs_is_killed)
{
    cr_expect_eq(bounded_child_run(hang, NULL, 50), -1);
    cr_expect_eq(*shared, 1);
    expect_no_child();
}

Test(bounded_child, one_that_somebody_kills_is_started_again_but_not_for_ever)
{
    cr_expect_eq(bounded_child_run(be_killed, NULL, 60000), 1);
    cr_expect_eq(*shared, 3);
    expect_no_child();
}

Test(bounded_child, it_has_none_of_our_descriptors)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD, 700);
    cr_assert_geq(fd, 700);
    cr_expect_eq(bounded_child_run(look_for_descriptors, &fd, 60000), 0);
    cr_expect_eq(*shared, 1);
}

Test(bounded_child, signals_do_not_end_it_and_our_mask_is_as_it_was)
{
    sigset_t mask;
    cr_expect_eq(bounded_child_run(raise_term, NULL, 60000), 0);
    cr_expect_eq(*shared, 1);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    cr_expect_not(sigismember(&mask, SIGTERM));
}

/* --- exit records --------------------------------------------------------------------------------
 */

enum { NOBODY = 65534, GROUP = 54321 };

static char run[] = "/tmp/exit-child-XXXXXX";
static char target[64];
static struct exit_child child = {.run = run, .name = "exit-a", .line = "line\n", .length = 5};

/* A run directory of an ordinary user: nobody where we are root, else us. */
static void make_run(void)
{
    cr_assert_not_null(mkdtemp(run));
    child.ids.user = getuid() ? getuid() : NOBODY;
    child.ids.group = getuid() ? getgid() : NOBODY;
    cr_assert_eq(chown(run, child.ids.user, child.ids.group), 0);
    cr_assert_eq(chmod(run, 0755), 0);
    snprintf(target, sizeof target, "%s.target", run);
}

static const char *path(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", run, name);
    return text;
}

static void remove_run(void)
{
    unlink(path("exit-a"));
    unlink(target);
    if (rmdir(run) < 0)
        unlink(run);
    rmdir(target);
}

static void append(void)
{
    cr_expect_eq(exit_child_append(&child, 60000), 0);
}

static int64_t size_of(const char *name)
{
    struct stat info;
    return lstat(name, &info) == 0 ? (int64_t)info.st_size : -1;
}

TestSuite(exit_child, .init = make_run, .fini = remove_run);

Test(exit_child, lines_are_appended_as_the_user)
{
    struct stat info;
    append();
    append();
    cr_assert_eq(lstat(path("exit-a"), &info), 0);
    cr_expect_eq(info.st_size, 10);
    cr_expect_eq(info.st_uid, child.ids.user);
    cr_expect_eq(info.st_gid, child.ids.group);
    cr_expect_eq(info.st_mode & 07133, 0, "mode %o", info.st_mode);
}

Test(exit_child, without_a_run_directory_nothing_is_made)
{
    cr_assert_eq(rmdir(run), 0);
    append();
    cr_expect_eq(size_of(run), -1);
}

Test(exit_child, a_link_in_place_of_the_run_directory_is_not_followed)
{
    cr_assert_eq(rename(run, target), 0);
    cr_assert_eq(symlink(target, run), 0);
    append();
    cr_expect_eq(unlink(run), 0);
    cr_assert_eq(rename(target, run), 0);
    cr_expect_eq(size_of(path("exit-a")), -1);
}

Test(exit_child, a_link_in_place_of_the_file_is_not_followed)
{
    int fd = open(target, O_WRONLY | O_CREAT | O_EXCL, 0666);
    cr_assert_geq(fd, 0);
    cr_assert_eq(fchmod(fd, 0666), 0);
    close(fd);
    cr_assert_eq(symlink(target, path("exit-a")), 0);
    append();
    cr_expect_eq(size_of(target), 0);
}

Test(exit_child, what_the_user_may_not_write_stays)
{
    if (getuid() != 0)
        cr_skip_test("only root can make what its user may not write");
    int fd = open(path("exit-a"), O_WRONLY | O_CREAT | O_EXCL, 0644); /* root's */
    cr_assert_geq(fd, 0);
    close(fd);
    append();
    cr_expect_eq(size_of(path("exit-a")), 0, "root's file was written");
    unlink(path("exit-a"));
    cr_assert_eq(chown(run, 0, 0), 0);
    append();
    cr_expect_eq(size_of(path("exit-a")), -1, "a file was made in root's directory");
}

Test(exit_child, groups_are_those_of_the_job_and_no_others)
{
    const gid_t ours[] = {GROUP}, jobs[] = {NOBODY, GROUP};
    if (getuid() != 0)
        cr_skip_test("only root can change groups");
    cr_assert_eq(chown(run, 0, GROUP), 0);
    cr_assert_eq(chmod(run, 0770), 0);
    cr_assert_eq(setgroups(1, ours), 0);
    append();
    cr_expect_eq(size_of(path("exit-a")), -1, "with a group of slurmstepd");
    child.ids.groups = jobs;
    child.ids.group_count = 2;
    append();
    cr_expect_eq(size_of(path("exit-a")), 5);
}

static void mark(void)
{
    struct node_done done = {.ids = child.ids, .run = run, .name = "done-a"};
    cr_expect_eq(node_done_mark(&done, 60000), 0);
}

Test(exit_child, a_node_is_marked_as_the_user)
{
    struct stat info;
    mark();
    mark();
    cr_assert_eq(lstat(path("done-a"), &info), 0);
    cr_expect_eq(info.st_uid, child.ids.user);
    cr_expect_eq(info.st_gid, child.ids.group);
    cr_expect_eq(unlink(path("done-a")), 0);
}

Test(exit_child, a_node_is_not_marked_through_a_link)
{
    cr_assert_eq(rename(run, target), 0);
    cr_assert_eq(symlink(target, run), 0);
    mark();
    cr_expect_eq(size_of(path("done-a")), -1);
    cr_expect_eq(unlink(run), 0);
    mark();
    cr_expect_eq(size_of(run), -1);
    cr_assert_eq(rename(target, run), 0);
}

Test(exit_child, another_user_than_ours_is_refused_where_ids_cannot_be_given_up)
{
    if (getuid() == 0)
        cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
    child.ids.user = getuid() + 1;
    append();
    cr_expect_eq(size_of(path("exit-a")), -1);
    child.ids.user = getuid();
    append();
    cr_expect_eq(size_of(path("exit-a")), 5);
}
