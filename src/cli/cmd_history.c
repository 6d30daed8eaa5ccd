/* assay history: lists, shows, tags, deletes, exports and imports records; makes, copies and prunes a history
 * (cmd_history_whole.c). A row per subcommand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/history.h"
#include "cli/job.h"

typedef enum verb_store { STORE_EXISTS, STORE_CREATED, STORE_OWN } verb_store;

typedef struct verb_row {
    const char *name, *words; /* its arguments */
    int min_words, max_words;
    verb_store
        store; /* one that must exist, is created when it is missing, or is opened by the verb */
    const char *options; /* accepted options */
    int (*run)(history_task *t);
} verb_row;

/* ---- words ---- */

static int record_number(const char *word, int64_t *id)
{
    char *end;
    errno = 0;
    long long v = strtoll(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || errno || v < 1)
        return cli_complain_text(
            ASSAY_ERR_USAGE, "'%.100s' is not the number of a record. `assay history` lists them.",
            word);
    *id = v;
    return ASSAY_OK;
}

static assay_record_filter filter_of(const cli_args *a, int64_t limit)
{
    return (assay_record_filter){.size = sizeof(assay_record_filter),
                                 .query = a->history.query,
                                 .machine = a->history.machine,
                                 .model = a->model.names.n ? a->model.names.items[0] : NULL,
                                 .tag = a->history.tags.n ? a->history.tags.items[0] : NULL,
                                 .since = a->history.since,
                                 .limit = a->history.limit ? a->history.limit : limit};
}

/* ---- list ---- */

static int list_records(history_task *t)
{
    cli_args *a = t->args;
    const bool people = a->output.paths.n == 0 &&
                        (!a->output.format || strcmp(a->output.format, "console") == 0);
    const assay_record_filter f = filter_of(a, people ? 20 : 0);
    cli_job j = {.args = a};
    assay_result *records = NULL;
    assay_error err;
    int code = cli_job_open_outputs(&j);
    if (!code && assay_store_list(t->store, &f, &records, &err) != ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = cli_view(&j, records);
    assay_result_free(records);
    cli_job_close(&j);
    return code;
}

/* ---- show ---- */

static int show_record(history_task *t)
{
    cli_job j = {.args = t->args};
    assay_result *r = NULL;
    assay_error err;
    int64_t id = 0;
    int code = record_number(t->words[0], &id);
    if (!code)
        code = cli_job_open_outputs(&j);
    if (!code && assay_store_get(t->store, id, NULL, &r, &err) != ASSAY_OK)
        code = cli_complain(&err);
    if (!code)
        code = cli_view(&j, r);
    assay_result_free(r);
    cli_job_close(&j);
    return code;
}

/* ---- tag, untag, delete ---- */

static int change_tags(history_task *t, bool add)
{
    assay_error err;
    int64_t id = 0;
    int code = record_number(t->words[0], &id);
    const size_t n = (size_t)t->n_words - 1;
    if (code)
        return code;
    const assay_tag_change change = {.size = sizeof change,
                                     .add = t->words + 1,
                                     .n_add = add ? n : 0,
                                     .remove = t->words + 1,
                                     .n_remove = add ? 0 : n};
    assay_status s = assay_store_tag(t->store, id, &change, &err);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int tag_record(history_task *t)
{
    return change_tags(t, true);
}

static int untag_record(history_task *t)
{
    return change_tags(t, false);
}

static int delete_records(history_task *t)
{
    assay_error err;
    int64_t id = 0;
    int code = ASSAY_OK;
    for (int i = 0; i < t->n_words && !code; i++)
        code = record_number(t->words[i], &id);
    for (int i = 0; i < t->n_words && !code; i++) {
        record_number(t->words[i], &id);
        if (assay_store_delete(t->store, id, &err) != ASSAY_OK)
            code = cli_complain(&err);
    }
    return code;
}

/* ---- export, import ---- */

static int put_lines(history_task *t, assay_output **file)
{
    assay_record_filter f = filter_of(t->args, 0);
    assay_error err;
    char *text = NULL;
    size_t n;
    uint64_t records = 0;
    int code = t->n_words ? record_number(t->words[0], &f.id) : ASSAY_OK;
    if (code)
        return code;
    if (assay_store_export(t->store, &f, &text, &n, &records, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (t->n_words && !records)
        code = cli_complain_text(ASSAY_ERR_USAGE, "the history has no record %.30s", t->words[0]);
    else if (!*file)
        code = cli_print(text, n);
    else {
        assay_output *out = *file;
        *file = NULL;
        code = assay_output_commit(out, text, n, &err) == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
        if (!code && !t->args->output.quiet)
            printf("%llu record%s written to %s\n", (unsigned long long)records,
                   records == 1 ? "" : "s", t->args->output.paths.items[0]);
    }
    assay_free(text);
    return code;
}

static int export_records(history_task *t)
{
    const cli_args *a = t->args;
    assay_output *file = NULL;
    assay_error err;
    if (a->output.paths.n > 1)
        return cli_complain_text(ASSAY_ERR_USAGE,
                                 "history export writes one file. Use -o FILE.jsonl.");
    if (a->output.paths.n && strcmp(a->output.paths.items[0], "-") != 0 &&
        assay_output_open(a->output.paths.items[0], &file, &err) != ASSAY_OK)
        return cli_complain(&err);
    int code = put_lines(t, &file);
    assay_output_abandon(file);
    return code;
}

/* Warnings, one per line of the text. */
static void print_left_out(const char *file, char *lines)
{
    for (char *rest = NULL, *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "assay: warning: %s: %s\n", file, line);
}

static int import_file(history_task *t, const char *file, uint64_t *added, uint64_t *known)
{
    assay_error err;
    char *left_out = NULL;
    assay_status s = t->args->history.skip_bad
                         ? assay_store_import_good(t->store, file, added, known, &left_out, &err)
                         : assay_store_import(t->store, file, added, known, &err);
    if (left_out)
        print_left_out(file, left_out);
    assay_free(left_out);
    return s == ASSAY_OK ? ASSAY_OK : cli_complain(&err);
}

static int import_files(history_task *t)
{
    for (int i = 0; i < t->n_words; i++) {
        uint64_t added, known;
        int code = import_file(t, t->words[i], &added, &known);
        if (code)
            return code;
        if (!t->args->output.quiet)
            printf("%s: %llu added, %llu already in the history\n", t->words[i],
                   (unsigned long long)added, (unsigned long long)known);
    }
    return ASSAY_OK;
}

/* ---- the verbs ---- */

#define SELECTING "db model since query limit tag machine "
#define SHOWING   "db output format json quiet color columns ascii no-graphs no-details "

#define FLEET SHOWING "model machine tag since limit verbose "

static const verb_row verbs[] = {
    {"list", "", 0, 0, STORE_EXISTS, SELECTING SHOWING, list_records},
    {"show", "ID", 1, 1, STORE_EXISTS, SHOWING "top depth verbose rows", show_record},
    {"tag", "ID NAME ...", 2, CLI_MAX_WORDS, STORE_EXISTS, "db", tag_record},
    {"untag", "ID NAME ...", 2, CLI_MAX_WORDS, STORE_EXISTS, "db", untag_record},
    {"delete", "ID ...", 1, CLI_MAX_WORDS, STORE_EXISTS, "db", delete_records},
    {"export", "[ID]", 0, 1, STORE_EXISTS, SELECTING "output quiet", export_records},
    {"import", "FILE ...", 1, CLI_MAX_WORDS, STORE_CREATED, "db quiet skip-bad", import_files},
    {"init", "", 0, 0, STORE_OWN, "db quiet", history_init},
    {"copy", "FROM TO", 2, 2, STORE_OWN, "quiet", history_copy},
    {"prune", "", 0, 0, STORE_EXISTS, "db quiet keep keep-tagged", history_prune},
    {"changes", "", 0, 0, STORE_EXISTS, FLEET "by metric", history_changes},
    {"regressions", "", 0, 0, STORE_EXISTS, FLEET "by metric", history_regressions},
    {"drift", "", 0, 0, STORE_EXISTS, SHOWING "machine tag since limit verbose", history_drift},
    {"cheapest", "MODEL", 1, 1, STORE_EXISTS, SHOWING "machine tag since limit latency price",
     history_cheapest},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static const char *verb_at(size_t i, const void *ctx)
{
    (void)ctx;
    return i < N_VERBS ? verbs[i].name : NULL;
}

static const verb_row *find_verb(const char *word)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    const char *near = cli_nearest(word, verb_at, NULL);
    cli_complain_text(
        ASSAY_ERR_USAGE,
        "unknown subcommand of history: '%.60s'.%s%s%s Use list, show, tag, "
        "untag, delete, export, import, init, copy, prune, changes, regressions, drift or "
        "cheapest.",
        word, near ? " Did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

static int check_options(const cli_args *a, const verb_row *v)
{
    char why[64];
    snprintf(why, sizeof why, "history %s does not accept it", v->name);
    if (a->history.tags.n > 1)
        return cli_complain_text(ASSAY_ERR_USAGE, "history selects by one --tag");
    return cli_allow_options(a, v->options, why);
}

static int run_history(cli_args *args)
{
    const verb_row *v = args->n_words ? find_verb(args->words[0]) : &verbs[0];
    history_task t = {.args = args, .words = args->words + 1};
    assay_error err;
    if (!v)
        return ASSAY_ERR_USAGE;
    t.n_words = args->n_words ? args->n_words - 1 : 0;
    if (t.n_words < v->min_words || t.n_words > v->max_words)
        return cli_complain_text(ASSAY_ERR_USAGE, "history %s takes %s", v->name,
                                 *v->words ? v->words : "options only");
    int code = check_options(args, v);
    if (code)
        return code;
    if (v->store != STORE_OWN &&
        assay_store_open(args->history.db, v->store == STORE_CREATED, &t.store, &err) != ASSAY_OK)
        return cli_complain(&err);
    code = v->run(&t);
    assay_store_close(t.store);
    return code;
}

static const char *const history_examples[] = {
    "assay bench model.onnx --save --tag nightly",
    "measure and store the result",
    "assay history --model resnet50 --since 30d",
    "records of a model in the last 30 days",
    "assay history show 12 -o record12.html",
    "show a record in any format",
    "assay history tag 12 release-1.4",
    "tag a record",
    "assay history export --tag nightly -o nightly.jsonl",
    "export records with their tags",
    "assay history import nightly.jsonl result.json",
    "import exported records or single results",
    "assay history init --db postgresql://assay@db.example/bench",
    "make the schema of a history in PostgreSQL",
    "assay history copy laptop.db postgresql://assay@db.example/bench",
    "copy the records that the other history does not have",
    "assay history prune --keep 90d --keep-tagged",
    "delete untagged records that are older than 90 days",
    "assay history regressions --by machine --since 7d",
    "series that got worse in a week",
    "assay history cheapest resnet50 --latency p99:20ms --price epyc=0.42",
    "class of machines with the lowest cost per sample",
    NULL,
};

const cli_command command_history = {
    CLI_COMMAND("history", "[SUBCOMMAND] [ID|FILE...]", 0, CLI_MAX_WORDS, run_history),
    .classes = "screen page result",
    .formats = CLI_REPORT_FORMATS,
    .values = "list|show|tag|untag|delete|export|import|init|copy|prune|changes|regressions|drift|"
              "cheapest",
    .examples = history_examples,
    .about =
        "List, show, tag, delete, export, import, copy or prune the results stored by --save; ask "
        "what changed in a fleet.",
    .more =
        "The history is an SQLite file or a PostgreSQL database: --db NAME, else $ASSAY_DB, else "
        "assay/history.db in $XDG_DATA_HOME or ~/.local/share. A database is named by "
        "postgresql://USER@HOST/DATABASE or by a connection string of libpq such as "
        "service=team; `history init` makes its schema. If ASSAY_DB is set, every measuring "
        "command stores its result. A save waits ASSAY_DB_WAIT seconds (30) for a server that "
        "does not answer, and then writes the record to a file. changes, regressions (exit 6 if there "
        "are any), drift (of the ceilings of `assay machine --save`) and cheapest answer questions "
        "about all machines."};
