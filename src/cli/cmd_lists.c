/* assay ops, lenses, doctor: tables of the library, as text or JSON. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/table.h"

/* Our own texts: ASCII or UTF-8, quotes and backslashes at most. */
void cli_json_text(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

bool cli_as_json(const cli_args *a)
{
    return a->output.format && strcmp(a->output.format, "json") == 0;
}

/* ---- ops ---- */

static bool matches(const assay_op_info *op, const char *pattern)
{
    char full[256];
    if (!pattern)
        return true;
    snprintf(full, sizeof full, "%s::%s", op->domain, op->name);
    if (!strpbrk(pattern, "*?["))
        return strcasestr(full, pattern) != NULL;
    return fnmatch(pattern, op->name, FNM_CASEFOLD) == 0 ||
           fnmatch(pattern, full, FNM_CASEFOLD) == 0;
}

static void put_op_json(const assay_op_info *op, bool first)
{
    fputs(first ? "  {" : ",\n  {", stdout);
    cli_json_text("domain", op->domain);
    fputs(", ", stdout);
    cli_json_text("name", op->name);
    fputs(", ", stdout);
    cli_json_text("type", op->type);
    fputs(", ", stdout);
    cli_json_text("versions", op->versions);
    fputs(", ", stdout);
    cli_json_text("formula", op->formula);
    putchar('}');
}

/* "Conv", "com.microsoft::FusedConv". */
static const char *full_name(const assay_op_info *op, char buf[256])
{
    bool main_domain = strcmp(op->domain, "ai.onnx") == 0;
    snprintf(buf, 256, "%s%s%s", main_domain ? "" : op->domain, main_domain ? "" : "::", op->name);
    return buf;
}

static void add_op(cli_table *t, const assay_op_info *op)
{
    char buf[256];
    cli_table_add(t, full_name(op, buf));
    cli_table_add(t, op->type);
    cli_table_add(t, op->versions);
    cli_table_add(t, op->formula);
}

static const cli_column op_columns[] = {{.title = "operator"},
                                        {.title = "type", .drop = 2},
                                        {.title = "since version", .drop = 1},
                                        {.title = "operations", .wrap = true}};

static int put_ops(const char *pattern, bool json, int *code)
{
    assay_op_info op = {.size = sizeof op};
    cli_table t;
    int shown = 0;
    cli_table_begin(&t, op_columns, sizeof op_columns / sizeof *op_columns);
    for (size_t i = 0; assay_op_at(i, &op); i++) {
        if (!matches(&op, pattern))
            continue;
        if (json)
            put_op_json(&op, shown == 0);
        else
            add_op(&t, &op);
        shown++;
    }
    *code = cli_table_print(&t);
    return shown;
}

static const char *op_name_at(size_t i, const void *ctx)
{
    assay_op_info op = {.size = sizeof op};
    (void)ctx;
    return assay_op_at(i, &op) ? op.name : NULL;
}

static int run_ops(cli_args *args)
{
    const char *pattern = args->n_words ? args->words[0] : NULL;
    int json = cli_as_json(args), code = ASSAY_OK;
    if (json)
        puts("[");
    int shown = put_ops(pattern, json, &code);
    if (json)
        puts(shown ? "\n]" : "]");
    if (shown == 0)
        return cli_no_match("operator", pattern, op_name_at, NULL);
    return code;
}

/* ---- lenses ---- */

static int run_lenses(cli_args *args)
{
    assay_lens_info lens = {.size = sizeof lens};
    int json = cli_as_json(args);
    if (json)
        puts("[");
    for (size_t i = 0; assay_lens_at(i, &lens); i++) {
        if (json) {
            fputs(i == 0 ? "  {" : ",\n  {", stdout);
            cli_json_text("name", lens.name);
            fputs(", ", stdout);
            cli_json_text("unit", lens.unit);
            fputs(", ", stdout);
            cli_json_text("about", lens.about);
            putchar('}');
        } else {
            printf("%-12s %-11s ", lens.name, lens.unit);
            cli_wrap(lens.about, 25, 25, cli_width());
        }
    }
    if (json)
        puts("\n]");
    return ASSAY_OK;
}

/* ---- doctor ---- */

static const cli_column limit_columns[] = {{.title = "limit"},
                                           {.title = "value", .right = true},
                                           {.title = "unit"},
                                           {.title = "at most", .right = true, .drop = 1},
                                           {.title = "of", .wrap = true}};

static void add_limit(cli_table *t, const assay_limit_info *limit)
{
    char text[32];
    cli_table_add(t, limit->name);
    snprintf(text, sizeof text, "%" PRIu64, limit->value);
    cli_table_add(t, text);
    cli_table_add(t, limit->unit);
    snprintf(text, sizeof text, "%" PRIu64, limit->most);
    cli_table_add(t, limit->most ? text : "fixed");
    cli_table_add(t, limit->about);
}

static void put_limit(const assay_limit_info *limit, bool first)
{
    fputs(first ? "  {" : ",\n  {", stdout);
    cli_json_text("name", limit->name);
    printf(", \"value\": %" PRIu64 ", \"most\": %" PRIu64 ", ", limit->value, limit->most);
    cli_json_text("unit", limit->unit);
    fputs(", ", stdout);
    cli_json_text("about", limit->about);
    putchar('}');
}

static int list_limits(const cli_args *args)
{
    assay_limit_info limit = {.size = sizeof limit};
    int json = cli_as_json(args);
    cli_table t;
    cli_table_begin(&t, limit_columns, sizeof limit_columns / sizeof *limit_columns);
    if (json)
        puts("[");
    for (size_t i = 0; assay_limit_at(i, &limit); i++) {
        if (json)
            put_limit(&limit, i == 0);
        else
            add_limit(&t, &limit);
    }
    int code = cli_table_print(&t);
    if (json)
        puts("\n]");
    return code;
}

static int run_doctor(cli_args *args)
{
    if (args->limits)
        return list_limits(args);
    assay_doctor_check check = {.size = sizeof check};
    int json = cli_as_json(args);
    bool well = true;
    if (json)
        puts("[");
    for (size_t i = 0; assay_doctor(i, &check); i++) {
        well = well && (check.ok || check.optional);
        if (json) {
            fputs(i == 0 ? "  {" : ",\n  {", stdout);
            cli_json_text("name", check.name);
            printf(", \"ok\": %s, \"optional\": %s, ", check.ok ? "true" : "false",
                   check.optional ? "true" : "false");
            cli_json_text("detail", check.detail);
            putchar('}');
        } else {
            printf("%-4s %-10s ", check.ok ? "ok" : check.optional ? "no" : "BAD", check.name);
            cli_wrap(check.detail, 16, 16, cli_width());
        }
    }
    if (json)
        puts("\n]");
    return well ? ASSAY_OK : ASSAY_ERR_SYSTEM;
}

static const char *const ops_examples[] = {
    "assay ops", "all operators", "assay ops '*Attention*'", "operators whose name matches", NULL,
};

const cli_command command_ops = {
    CLI_COMMAND("ops", "[PATTERN]", 0, 1, run_ops),
    .classes = "list",
    .formats = CLI_LIST_FORMATS,
    .examples = ops_examples,
    .about = "List supported operators with versions and cost formulas.",
    .more = "PATTERN is part of the name, or contains * and ?; case does not matter. In a type, # "
            "is the number of spatial dimensions."};

const cli_command command_lenses = {CLI_COMMAND("lenses", "", 0, 0, run_lenses), .classes = "list",
                                    .formats = CLI_LIST_FORMATS,
                                    .about = "List FLOP-counting conventions."};

const cli_command command_doctor = {CLI_COMMAND("doctor", "", 0, 0, run_doctor), .classes = "list",
                                    .formats = CLI_LIST_FORMATS,
                                    .about = "Check the installation."};
