/* See cluster.h. */
#include "support/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/file.h"

/* Runs the script; its output, without the line's end. */
static int run_script(char out[512], const char *format, ...)
{
    char words[2048], line[2200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(words, sizeof words, format, ap);
    va_end(ap);
    snprintf(line, sizeof line, "tests/support/postgres.sh %s", words);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, 511, f);
    out[n] = '\0';
    if (n && out[n - 1] == '\n')
        out[n - 1] = '\0';
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void must(const char *words, const char *folder)
{
    char out[512];
    assert_int_equal(run_script(out, words, folder), 0);
}

bool cluster_start(cluster *c)
{
    char out[512];
    assert_int_equal(file_temp_folder(&c->folder, NULL), ASSAY_OK);
    int code = run_script(out, "start %s", c->folder);
    if (code == 77)
        printf("%s\n", out);
    else
        assert_int_equal(code, 0);
    if (code == 77) {
        file_remove_folder(c->folder);
        free(c->folder);
    }
    return code == 0;
}

void cluster_end(cluster *c)
{
    must("end %s", c->folder);
    free(c->folder);
}

void cluster_stop(const cluster *c, const char *mode)
{
    char out[512];
    assert_int_equal(run_script(out, "stop %s %s", c->folder, mode), 0);
}

void cluster_again(const cluster *c)
{
    must("again %s", c->folder);
}

/* The name of a database, from that of a file. */
static void plain_name(const char *name, char to[64])
{
    snprintf(to, 64, "%s", name);
    for (char *p = to; *p; p++)
        *p = *p == '/' || *p == '.' ? '_' : *p;
}

const char *cluster_database(const cluster *c, const char *name, char url[512])
{
    char plain[64];
    plain_name(name, plain);
    assert_int_equal(run_script(url, "database %s %s", c->folder, plain), 0);
    return url;
}

void cluster_sql(const cluster *c, const char *name, const char *sql, char rows[512])
{
    char plain[64], own[512];
    plain_name(name, plain);
    assert_int_equal(run_script(rows ? rows : own, "sql %s %s \"%s\"", c->folder, plain, sql), 0);
}
