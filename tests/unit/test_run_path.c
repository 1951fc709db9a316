/* SPDX-License-Identifier: BSD-3-Clause */
/* Run directories and profile files get the names that users are told. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/run_path.h"

static char path[4096];
static struct error err;
static const struct run_names names = {
    .job = "17",
    .step = "0",
    .user = "ada",
    .job_name = "wave/../x\n",
    .array_job = "12",
    .array_task = "5",
};

static void expands(const char *pattern, const char *expected)
{
    cr_assert_eq(run_path_expand(pattern, &names, path, sizeof path, &err), 0, "%s", err.text);
    cr_expect_str_eq(path, expected);
}

Test(run_path, patterns_are_replaced)
{
    expands("", "");
    expands("/scratch/%u/%j.%s", "/scratch/ada/17.0");
    expands("%A_%a%%", "12_5%");
    expands("plain", "plain");
}

Test(run_path, a_value_stays_one_component)
{
    expands("p/%x", "p/wave_.._x_");
    struct run_names odd = {.job = "..", .step = ".", .user = "", .job_name = "a..b"};
    cr_assert_eq(run_path_expand("%j/%s/%u/%x", &odd, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "__/_/_/a..b");
}

Test(run_path, unknown_values_and_patterns_are_named)
{
    struct run_names none = {0};
    cr_expect_eq(run_path_expand("%a", &none, path, sizeof path, &err), -1);
    cr_expect_str_eq(err.text, "%a in out= stands for the array task, which is not known here");
    cr_expect_eq(run_path_expand("%t", &names, path, sizeof path, &err), -1);
    cr_expect(strstr(err.text, "%t cannot stand in out=") == err.text, "%s", err.text);
    cr_expect_eq(run_path_expand("%z", &names, path, sizeof path, &err), -1);
    cr_expect(strstr(err.text, "unknown pattern %z") == err.text, "%s", err.text);
    cr_expect_eq(run_path_expand("x%", &names, path, sizeof path, &err), -1);
}

Test(run_path, run_directory_is_absolute)
{
    char cwd[2048], expected[4096];
    cr_assert_eq(run_path_directory("/data//", "17.0", 0, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "/data/scope-profile-17.0");
    cr_assert_eq(run_path_directory("/", "17.0", 2, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "/scope-profile-17.0-r2");
    cr_assert_eq(chdir("/tmp"), 0);
    cr_assert_not_null(getcwd(cwd, sizeof cwd));
    cr_assert_eq(run_path_directory("", "host-9", -1, path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/scope-profile-host-9", cwd);
    cr_expect_str_eq(path, expected);
    cr_assert_eq(run_path_directory("a/b", "17.0", 0, path, sizeof path, &err), 0);
    snprintf(expected, sizeof expected, "%s/a/b/scope-profile-17.0", cwd);
    cr_expect_str_eq(path, expected);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(run_path_directory("", "17.0", 0, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "/scope-profile-17.0");
}

Test(run_path, a_run_name_is_one_component)
{
    cr_expect_eq(run_path_directory("/data", "", 0, path, sizeof path, &err), -1);
    cr_expect_eq(run_path_directory("/data", "../17", 0, path, sizeof path, &err), -1);
    cr_expect_str_eq(err.text, "\"../17\" cannot name a run");
}

Test(run_path, profile_lies_beside_the_directory)
{
    cr_assert_eq(run_path_profile("/d/scope-profile-17.0//", 0, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "/d/scope-profile-17.0.h5");
    cr_assert_eq(run_path_profile("scope-profile-17.0", 1, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "scope-profile-17.0-2.h5");
    cr_assert_eq(run_path_profile("x", 4294967295u, path, sizeof path, &err), 0);
    cr_expect_str_eq(path, "x-4294967296.h5");
    cr_expect_eq(run_path_profile("//", 0, path, sizeof path, &err), -1);
    cr_expect_eq(run_path_profile("", 0, path, sizeof path, &err), -1);
}

Test(run_path, no_path_is_cut)
{
    char small[8];
    cr_assert_eq(run_path_expand("1234567", &names, small, sizeof small, &err), 0);
    cr_expect_eq(run_path_expand("12345678", &names, small, sizeof small, &err), -1);
    cr_expect_str_eq(err.text, "the path does not fit in 8 bytes");
    cr_expect_eq(run_path_expand("12345%x", &names, small, sizeof small, &err), -1);
    cr_expect_eq(run_path_expand("1", &names, small, 0, &err), -1);
    cr_expect_eq(run_path_directory("/a", "17.0", 0, small, sizeof small, &err), -1);
    cr_expect_eq(run_path_directory("a", "17.0", 0, small, 1, &err), -1);
    cr_expect_eq(run_path_profile("12345", 0, small, sizeof small, &err), -1);
    cr_assert_eq(run_path_profile("1234", 0, small, sizeof small, &err), 0);
    cr_expect_str_eq(small, "1234.h5");
}
