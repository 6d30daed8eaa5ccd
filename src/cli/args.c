/* From words to what was asked for. Options may stand anywhere, as --name VALUE, --name=VALUE, -n VALUE
 * or -nVALUE; flags of one letter may be joined. `--` ends them; `-` is a word. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static assay_status complain(assay_error *err, const char *fmt, ...) ASSAY_PRINTF(2, 3);

static assay_status complain(assay_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    err->code = ASSAY_ERR_USAGE;
    return ASSAY_ERR_USAGE;
}

/* ---- finding rows ---- */

static bool takes_value(const cli_option *row)
{
    const char *value, *about;
    cli_option_text(row, &value, &about);
    return value != NULL;
}

/* Several rows may have a name: the command's own row counts. */
static const cli_option *by_name(const cli_command *command, const char *name, size_t n)
{
    const cli_option *any = NULL;
    for (size_t i = 0; i < cli_n_options; i++) {
        if (strlen(cli_options[i].name) != n || memcmp(cli_options[i].name, name, n) != 0)
            continue;
        if (command && (cli_options[i].on & command->bit))
            return &cli_options[i];
        any = any ? any : &cli_options[i];
    }
    return any;
}

static const cli_option *by_letter(const cli_command *command, char letter)
{
    for (size_t i = 0; i < cli_n_options; i++)
        if (cli_options[i].letter && cli_options[i].letter == letter)
            return by_name(command, cli_options[i].name, strlen(cli_options[i].name));
    return NULL;
}

static const char *option_name_at(size_t i, const void *ctx)
{
    const cli_command *command = ctx;
    while (i < cli_n_options && command && !(cli_options[i].on & command->bit))
        i++;
    return i < cli_n_options ? cli_options[i].name : NULL;
}

static assay_status unknown_option(const cli_args *a, const char *word, size_t n, assay_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), word);
    const char *near = cli_nearest(name, option_name_at, a->command);
    if (near)
        return complain(err, "There is no option --%s. Did you mean --%s?", name, near);
    return complain(err, "There is no option --%s. `assay help %s` lists them.", name,
                    a->command ? a->command->name : "");
}

/* ---- one walk over the words ---- */

typedef assay_status take_option(cli_args *a, const cli_option *row, const char *value,
                                 assay_error *err);
typedef assay_status take_word(cli_args *a, const char *word, assay_error *err);

typedef struct walker {
    cli_args *args;
    int i;
    take_option *option;
    take_word *word;
    bool lenient; /* unknown options are passed over: the command is not known yet */
} walker;

/* "latency:100ms", "params<=30M": a limit, by its looks. */
static bool looks_like_limit(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    const char *at = word + n;
    if (n == 0 || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *word))
        return false;
    return strncmp(at, "<=", 2) == 0 || strncmp(at, ">=", 2) == 0 ||
           (*at == ':' && at[1] && strchr("0123456789.", at[1]));
}

/* Words after --threshold belong to it while they look like limits. */
static assay_status more_limits(walker *w, const cli_option *row, assay_error *err)
{
    while (w->i + 1 < w->args->argc && looks_like_limit(w->args->argv[w->i + 1])) {
        assay_status s = w->option(w->args, row, w->args->argv[++w->i], err);
        if (s != ASSAY_OK)
            return s;
    }
    return ASSAY_OK;
}

static assay_status walk_long(walker *w, const char *text, assay_error *err)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    const cli_option *row = by_name(w->args->command, text, n);
    const char *value = equals ? equals + 1 : NULL;
    if (!row)
        return w->lenient ? ASSAY_OK : unknown_option(w->args, text, n, err);
    if (takes_value(row) && !value) {
        if (w->i + 1 >= w->args->argc)
            return w->lenient ? ASSAY_OK : complain(err, "--%s needs a value.", row->name);
        value = w->args->argv[++w->i];
    } else if (!takes_value(row) && value && row->id != OPT_LIBRARY) {
        return w->lenient ? ASSAY_OK : complain(err, "--%s takes no value.", row->name);
    }
    assay_status s = w->option(w->args, row, value, err);
    return s == ASSAY_OK && strcmp(row->name, "threshold") == 0 ? more_limits(w, row, err) : s;
}

static assay_status walk_letters(walker *w, const char *letters, assay_error *err)
{
    for (; *letters; letters++) {
        const cli_option *row = by_letter(w->args->command, *letters);
        if (!row && w->lenient)
            return ASSAY_OK;
        if (!row)
            return complain(err, "There is no option -%c. `assay help %s` lists them.",
                            *letters >= ' ' && *letters < 127 ? *letters : '?',
                            w->args->command ? w->args->command->name : "");
        const char *value = NULL;
        if (takes_value(row)) {
            value = letters[1]                 ? letters + 1
                    : w->i + 1 < w->args->argc ? w->args->argv[++w->i]
                                               : NULL;
            if (!value)
                return w->lenient ? ASSAY_OK : complain(err, "-%c needs a value.", *letters);
        }
        assay_status s = w->option(w->args, row, value, err);
        if (s != ASSAY_OK || value)
            return s;
    }
    return ASSAY_OK;
}

static assay_status walk_all(walker *w, assay_error *err)
{
    bool only_words = false;
    for (w->i = 1; w->i < w->args->argc; w->i++) {
        const char *text = w->args->argv[w->i];
        assay_status s;
        if (!only_words && strcmp(text, "--") == 0) {
            only_words = true;
            if (!w->args->command || w->args->command->bit != ON_WATCH)
                continue;
            w->args->rest = w->args->argv + w->i + 1;
            return ASSAY_OK;
        }
        if (!only_words && text[0] == '-' && text[1] == '-')
            s = walk_long(w, text + 2, err);
        else if (!only_words && text[0] == '-' && text[1])
            s = walk_letters(w, text + 1, err);
        else
            s = w->word(w->args, text, err);
        if (s != ASSAY_OK)
            return s;
    }
    return ASSAY_OK;
}

/* ---- the first walk: which command? ---- */

static assay_status skip_option(cli_args *a, const cli_option *row, const char *value,
                                assay_error *err)
{
    (void)value;
    (void)err;
    a->help = a->help || row->id == OPT_HELP;
    a->version = a->version || row->id == OPT_VERSION;
    return ASSAY_OK;
}

static assay_status first_word(cli_args *a, const char *word, assay_error *err)
{
    (void)err;
    if (a->n_words++ == 0) {
        a->command = cli_find_command(word);
        a->command_given = a->command != NULL;
    }
    return ASSAY_OK;
}

/* ---- the second walk ---- */

static assay_status keep_word(cli_args *a, const char *word, assay_error *err)
{
    if (a->n_words == CLI_MAX_WORDS)
        return complain(err, "There are too many words on the command line.");
    a->words[a->n_words++] = word;
    return ASSAY_OK;
}

static assay_status set_color(cli_args *a, const char *value, assay_error *err)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            a->color = (cli_when)i;
            return ASSAY_OK;
        }
    return complain(err, "--color takes auto, always or never, not '%s'.", value);
}

static assay_status set_limit(cli_args *a, const char *value, assay_error *err)
{
    char *end;
    a->limit = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || a->limit < 1 || a->limit > 1000000)
        return complain(err, "--limit takes a whole number from 1 to 1000000, not '%s'.", value);
    return ASSAY_OK;
}

static assay_status set_pid(cli_args *a, const char *value, assay_error *err)
{
    char *end;
    a->pid = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || a->pid < 1 || a->pid > 0x7fffffff)
        return complain(err, "--pid takes the number of a process, not '%s'.", value);
    return ASSAY_OK;
}

static assay_status set_library(cli_args *a, const cli_option *row, const char *value,
                                assay_error *err)
{
    a->width_given = a->width_given || strcmp(row->name, "columns") == 0;
    a->ascii_given = a->ascii_given || strcmp(row->name, "ascii") == 0;
    if (strcmp(row->name, "device") == 0)
        a->device = value;
    if (strcmp(row->name, "batch-sizes") == 0)
        a->batch_sizes = value;
    if (strcmp(row->name, "hardware") == 0)
        a->hardware = value;
    if (strcmp(row->name, "precision") == 0)
        a->precision = value;
    assay_error inner;
    assay_status s = assay_options_set(a->options, row->name, value, &inner);
    if (s == ASSAY_OK)
        return ASSAY_OK;
    /* The library speaks of "batch", the user typed "--batch". */
    bool names_it = strncmp(inner.message, row->name, strlen(row->name)) == 0;
    snprintf(err->message, sizeof err->message, "%s%.700s", names_it ? "--" : "", inner.message);
    err->code = s;
    return s;
}

static assay_status keep_option(cli_args *a, const cli_option *row, const char *value,
                                assay_error *err)
{
    if (!(row->on & a->command->bit))
        return complain(err, "%s has no option --%s. `assay help %s` lists them.", a->command->name,
                        row->name, a->command->name);
    switch (row->id) {
    case OPT_LIBRARY:
        return set_library(a, row, value, err);
    case OPT_SHOW:
        a->show = true;
        return ASSAY_OK;
    case OPT_OUTPUT:
        if (a->n_outputs == CLI_MAX_OUTPUTS)
            return complain(err, "There are more than %d outputs.", CLI_MAX_OUTPUTS);
        a->outputs[a->n_outputs++] = value;
        return ASSAY_OK;
    case OPT_FORMAT:
        a->format = value;
        return ASSAY_OK;
    case OPT_JSON:
        a->format = "json";
        return ASSAY_OK;
    case OPT_QUIET:
        a->quiet = true;
        return ASSAY_OK;
    case OPT_MODEL:
        return keep_word(a, value, err);
    case OPT_COLOR:
        return set_color(a, value, err);
    case OPT_CONFIG:
        a->config = value;
        return ASSAY_OK;
    case OPT_MODELS:
        a->models = value;
        return ASSAY_OK;
    case OPT_MEASURE:
        a->measure = true;
        return ASSAY_OK;
    case OPT_BASELINE:
        a->baseline = value;
        return ASSAY_OK;
    case OPT_SAVE_BASELINE:
        a->save_baseline = value;
        return ASSAY_OK;
    case OPT_JUNIT:
        a->junit = value;
        return ASSAY_OK;
    case OPT_OUTPUT_DIR:
        a->output_dir = value;
        return ASSAY_OK;
    case OPT_SAVE:
        a->save = true;
        return ASSAY_OK;
    case OPT_DB:
        a->db = value;
        return ASSAY_OK;
    case OPT_TAG:
        if (a->n_tags && (a->command->bit & (ON_HISTORY | ON_TREND)))
            return complain(err, "%s looks for one --tag at a time.", a->command->name);
        if (a->n_tags == CLI_MAX_TAGS)
            return complain(err, "There are more than %d tags.", CLI_MAX_TAGS);
        a->tags[a->n_tags++] = value;
        return ASSAY_OK;
    case OPT_SINCE:
        a->since = value;
        return ASSAY_OK;
    case OPT_QUERY:
        a->query = value;
        return ASSAY_OK;
    case OPT_LIMIT:
        return set_limit(a, value, err);
    case OPT_OF_MODEL:
        a->of_model = value;
        return ASSAY_OK;
    case OPT_METRIC:
        a->metric = value;
        return ASSAY_OK;
    case OPT_ALERT:
        if (a->n_alerts == CLI_MAX_ALERTS)
            return complain(err, "There are more than %d alerts.", CLI_MAX_ALERTS);
        a->alerts[a->n_alerts++] = value;
        return ASSAY_OK;
    case OPT_PID:
        return set_pid(a, value, err);
    case OPT_ALL:
        a->all = true;
        return ASSAY_OK;
    case OPT_LICENSES:
        a->licenses = true;
        return ASSAY_OK;
    case OPT_MAN:
        a->man = true;
        return ASSAY_OK;
    case OPT_PASSED:
    case OPT_HELP:
    case OPT_VERSION:
        return ASSAY_OK;
    }
    return ASSAY_OK;
}

static const char *command_name_at(size_t i, const void *ctx)
{
    (void)ctx;
    return i < cli_n_commands ? cli_commands[i].name : NULL;
}

/* A configuration is a model, or says how the model that was given is to be built. */
static assay_status place_config(cli_args *a, assay_error *err)
{
    if (!a->config)
        return ASSAY_OK;
    if (a->n_words == 0)
        return keep_word(a, a->config, err);
    return assay_options_set(a->options, "config", a->config, err);
}

/* The file's name without folders and its last suffix: what may stand in a file's name. */
static void put_stem(const char *model, char *out, size_t cap)
{
    const char *base = strrchr(model, '/');
    base = base && base[1] ? base + 1 : model;
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    snprintf(out, cap, "%.*s", (int)(n < 200 ? n : 200), base);
    for (char *c = out; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ')
            *c = '_';
}

/* --output-dir: every format that is for keeps, or the one that was asked for. */
static assay_status place_folder(cli_args *a, assay_error *err)
{
    static const char *const usual[] = {"json", "csv", "md", "html"};
    assay_format_info f = {.size = sizeof f};
    char stem[256];
    int n = 0;
    if (!a->output_dir || !a->n_words)
        return ASSAY_OK;
    put_stem(a->words[0], stem, sizeof stem);
    for (size_t i = 0; assay_report_at(i, &f) && n < CLI_DIR_FILES; i++) {
        bool wanted = a->format && strcmp(a->format, f.name) == 0;
        for (size_t k = 0; !a->format && k < sizeof usual / sizeof *usual; k++)
            wanted = wanted || strcmp(usual[k], f.name) == 0;
        if (!wanted || (!a->format && strcmp(f.name, "html") == 0 && !*assay_page_licenses()))
            continue;
        if (a->n_outputs == CLI_MAX_OUTPUTS)
            return complain(err, "There are more than %d outputs.", CLI_MAX_OUTPUTS);
        if (snprintf(a->dir_paths[n], CLI_DIR_PATH_MAX, "%s/%s%s", a->output_dir, stem, f.suffix) >=
            CLI_DIR_PATH_MAX)
            return complain(err, "The name of --output-dir is too long.");
        a->outputs[a->n_outputs++] = a->dir_paths[n++];
    }
    return ASSAY_OK;
}

static assay_status check_words(cli_args *a, assay_error *err)
{
    const cli_command *c = a->command;
    if (a->n_words >= c->min_words && a->n_words <= c->max_words)
        return ASSAY_OK;
    if (a->n_words < c->min_words)
        return complain(err, "%s needs %s. `assay help %s` explains it.", c->name, c->words,
                        c->name);
    const char *near = a->command_given ? NULL : cli_nearest(a->words[0], command_name_at, NULL);
    if (near)
        return complain(err, "There is no command '%.100s'. Did you mean '%s'?", a->words[0], near);
    if (!a->command_given)
        return complain(err,
                        "'%.100s' is no command, and '%.100s' is one word too many for a model.",
                        a->words[0], a->words[1]);
    return complain(err, "'%.100s' is one word too many for %s%s%s.", a->words[c->max_words],
                    c->name, *c->words ? " " : "", c->words);
}

static assay_status parse_for(cli_args *a, assay_error *err)
{
    walker second = {.args = a, .option = keep_option, .word = keep_word};
    a->n_words = 0;
    assay_status s = walk_all(&second, err);
    if (s != ASSAY_OK)
        return s;
    if (a->command_given) {
        a->n_words--;
        memmove(a->words, a->words + 1, sizeof *a->words * (size_t)a->n_words);
    }
    s = place_config(a, err);
    if (s == ASSAY_OK)
        s = place_folder(a, err);
    return s == ASSAY_OK ? check_words(a, err) : s;
}

assay_status cli_parse(int argc, char **argv, cli_args *a, assay_error *err)
{
    *a = (cli_args){.argc = argc, .argv = argv, .options = assay_options_new()};
    *err = (assay_error){.offset = ASSAY_NO_OFFSET};
    if (!a->options) {
        complain(err, "Memory ran out.");
        return err->code = ASSAY_ERR_SYSTEM;
    }
    walker first = {.args = a, .option = skip_option, .word = first_word, .lenient = true};
    walk_all(&first, err);
    if (a->help || (a->version && !a->command))
        return ASSAY_OK;
    if (!a->command)
        a->command = cli_find_command("graph");
    return parse_for(a, err);
}

void cli_args_free(cli_args *a)
{
    assay_options_free(a->options);
}
