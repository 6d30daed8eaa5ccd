/* The options of assay-serve: one row each. `assay serve` has passed those that it knows (cli/option_rows.c), where their
 * help is. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

typedef enum serve_kind {
    SERVE_WORD,
    SERVE_HISTORY,
    SERVE_FLAG,
    SERVE_NUMBER,
    SERVE_WORDS,
    SERVE_LIMIT,
    SERVE_SAY
} serve_kind;

typedef struct serve_row {
    const char *name;
    serve_kind kind;
    size_t at;     /* of its field in serve_options */
    size_t count;  /* WORDS: of the int that counts them */
    long min, max; /* WORDS: how many may be given */
} serve_row;

#define ROW(name_, kind_, field) \
    .name = (name_), .kind = SERVE_##kind_, .at = offsetof(serve_options, field)

#define COUNTED(field) .count = offsetof(serve_options, field)

static const serve_row rows[] = {
    {ROW("port", NUMBER, port), .max = 65535},
    {ROW("host", WORD, host)},
    {ROW("db", HISTORY, db)},
    {ROW("token", WORD, token)},
    {ROW("token-file", WORD, token_file)},
    {ROW("allow-host", WORDS, allowed), COUNTED(n_allowed), .max = SERVE_HOSTS},
    {ROW("sweep-plan", WORDS, sweeps), COUNTED(n_sweeps), .max = SERVE_SWEEPS},
    {ROW("read-only", FLAG, read_only)},
    {ROW("no-sandbox", FLAG, no_sandbox)},
    {ROW("timeout", NUMBER, timeout_s), .min = 1, .max = 3600},
    {.name = "raise-limit", .kind = SERVE_LIMIT},
    {.name = "help", .kind = SERVE_SAY},
    {.name = "version", .kind = SERVE_SAY},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static int refuse(const char *name, const char *what)
{
    fprintf(stderr, "assay-serve: %s%s%s\n", name ? "--" : "", name ? name : "", what);
    return ASSAY_ERR_USAGE;
}

static int take_number(const serve_row *row, const char *text, long *to)
{
    char *end, why[80];
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || n < row->min || n > row->max) {
        snprintf(why, sizeof why, " must be %ld to %ld", row->min, row->max);
        return refuse(row->name, why);
    }
    *to = n;
    return -1;
}

static int add_word(const serve_row *row, const char *word, serve_options *o)
{
    int *n = (int *)(void *)((char *)o + row->count);
    char why[80];
    if (*n == row->max) {
        snprintf(why, sizeof why, " can be given %ld times at most", row->max);
        return refuse(row->name, why);
    }
    ((const char **)(void *)((char *)o + row->at))[(*n)++] = word;
    return -1;
}

/* ---- limits ---- */

/* The library takes them from the environment. */
static int take_limit(const char *text)
{
    const char *before = getenv("ASSAY_LIMITS");
    char *all = NULL;
    assay_error err;
    if (assay_limits_check(text, &err) != ASSAY_OK) {
        fprintf(stderr, "assay-serve: %s\n", err.message);
        return (int)err.code;
    }
    if (asprintf(&all, "%s%s%s", before ? before : "", before && *before ? "," : "", text) < 0)
        return ASSAY_ERR_SYSTEM;
    setenv("ASSAY_LIMITS", all, 1);
    free(all);
    return -1;
}

static bool find_limit(const char *name, assay_limit_info *out)
{
    *out = (assay_limit_info){.size = sizeof *out};
    for (size_t i = 0; assay_limit_at(i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

uint64_t limit_named(const char *name)
{
    assay_limit_info limit;
    return find_limit(name, &limit) ? limit.value : 0;
}

char *limit_refusal(const char *what, const char *name)
{
    assay_limit_info limit;
    char *out = NULL;
    if (!find_limit(name, &limit) ||
        asprintf(&out, "%s (limit `%s`: %llu %s%s)", what, name, (unsigned long long)limit.value,
                 limit.unit,
                 limit.most ? "; the server raises it with --raise-limit NAME=VALUE" : ", fixed") <
            0)
        return NULL;
    return out;
}

static int say(const serve_row *row)
{
    puts(row->name[0] == 'v' ? assay_version()
                             : "assay-serve: the dashboard of a history of results. `assay help "
                               "serve` lists its options. It prints its address\nand ends on "
                               "SIGTERM or SIGINT.");
    return ASSAY_OK;
}

/* The name of a database may hold a password: it is copied, and overwritten where the system shows it. */
static const char *hide_password(char *name)
{
    char *copy = assay_store_is_remote(name) ? strdup(name) : NULL;
    if (copy)
        memset(name, '*', strlen(name));
    return copy ? copy : name;
}

/* -1: go on; else the exit code. */
static int take_row(const serve_row *row, char *value, serve_options *o)
{
    void *to = (char *)o + row->at;
    switch (row->kind) {
    case SERVE_WORD:
        *(const char **)to = value;
        return -1;
    case SERVE_HISTORY:
        *(const char **)to = hide_password(value);
        return -1;
    case SERVE_FLAG:
        *(bool *)to = true;
        return -1;
    case SERVE_NUMBER:
        return take_number(row, value, to);
    case SERVE_WORDS:
        return add_word(row, value, o);
    case SERVE_LIMIT:
        return take_limit(value);
    default:
        return say(row);
    }
}

int options_read(int argc, char **argv, serve_options *o)
{
    struct option words[N_ROWS + 1] = {{0}};
    int at = 0, code = -1, option;
    for (int i = 0; i < N_ROWS; i++)
        words[i] = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].kind != SERVE_FLAG &&
                                              rows[i].kind != SERVE_SAY};
    *o = (serve_options){.host = "127.0.0.1", .timeout_s = SERVE_TIMEOUT_S};
    while (code < 0 && (option = getopt_long(argc, argv, "", words, &at)) != -1)
        code = option == 0 ? take_row(&rows[at], optarg, o) : ASSAY_ERR_USAGE;
    if (code < 0 && optind < argc)
        return refuse(NULL, "unexpected argument. List the options with `assay help serve`.");
    return code;
}
