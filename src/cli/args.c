/* Parses the command line. Options may be anywhere, as --name VALUE, --name=VALUE, -n VALUE or -nVALUE. Flags of one
 * letter may be combined. `--` ends the options; `-` is an argument. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

assay_status cli_refuse(assay_error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    err->code = ASSAY_ERR_USAGE;
    return ASSAY_ERR_USAGE;
}

/* ---- finding rows ---- */

static bool find_letter(char letter, assay_option_info *out)
{
    for (size_t i = 0; cli_option_at(i, out); i++)
        if (out->letter && out->letter == letter)
            return true;
    return false;
}

/* The options of a command, or all. */
static const char *option_name_at(size_t i, const void *ctx)
{
    const cli_command *command = ctx;
    assay_option_info o;
    for (size_t k = 0; cli_option_at(k, &o); k++)
        if ((!command || cli_takes(command, &o)) && i-- == 0)
            return o.name;
    return NULL;
}

static assay_status unknown_option(const cli_args *a, const char *word, size_t n, assay_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), word);
    const char *near = cli_nearest(name, option_name_at, a->command);
    if (near)
        return cli_refuse(err, "unknown option --%s. Did you mean --%s?", name, near);
    return cli_refuse(err, "unknown option --%s. `assay help %s` lists them.", name,
                      a->command ? a->command->name : "");
}

/* "bench, map and fuse": the commands that take the option. */
static void put_takers(const assay_option_info *o, char *out, size_t cap)
{
    const cli_command *c, *last = NULL;
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        last = cli_takes(c, o) ? c : last;
    for (size_t i = 0; (c = cli_command_at(i)) && n + 32 < cap; i++)
        if (cli_takes(c, o))
            n += (size_t)snprintf(out + n, cap - n, "%s%s",
                                  n == 0      ? ""
                                  : c == last ? " and "
                                              : ", ",
                                  c->name);
}

static assay_status refuse_option(const cli_args *a, const assay_option_info *o, assay_error *err)
{
    char takers[512];
    put_takers(o, takers, sizeof takers);
    if (!*takers) /* its commands are not in a build for WebAssembly */
        return cli_refuse(err, "%s does not take --%s. Use the native program for it.",
                          a->command->name, o->name);
    return cli_refuse(err, "%s does not take --%s; %s %s.", a->command->name, o->name, takers,
                      strchr(takers, ' ') ? "do" : "does");
}

/* ---- one walk over the words ---- */

typedef assay_status option_fn(cli_args *a, const assay_option_info *o, const char *value,
                               assay_error *err);
typedef assay_status word_fn(cli_args *a, const char *word, assay_error *err);

typedef struct walker {
    cli_args *args;
    int i;
    option_fn *option;
    word_fn *word;
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
static assay_status walk_limits(walker *w, const assay_option_info *o, assay_error *err)
{
    while (w->i + 1 < w->args->argc && looks_like_limit(w->args->argv[w->i + 1])) {
        assay_status s = w->option(w->args, o, w->args->argv[++w->i], err);
        if (s != ASSAY_OK)
            return s;
    }
    return ASSAY_OK;
}

static assay_status walk_long(walker *w, const char *text, assay_error *err)
{
    const char *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    assay_option_info o;
    if (!cli_find_option(text, n, &o))
        return w->lenient ? ASSAY_OK : unknown_option(w->args, text, n, err);
    if (!w->lenient && !cli_takes(w->args->command, &o))
        return refuse_option(w->args, &o, err);
    if (o.value && !value) {
        if (w->i + 1 >= w->args->argc)
            return w->lenient ? ASSAY_OK : cli_refuse(err, "--%s needs a value.", o.name);
        value = w->args->argv[++w->i];
    }
    assay_status s = w->option(w->args, &o, value, err);
    return s == ASSAY_OK && strcmp(o.name, "threshold") == 0 ? walk_limits(w, &o, err) : s;
}

static assay_status walk_letters(walker *w, const char *letters, assay_error *err)
{
    for (; *letters; letters++) {
        assay_option_info o;
        const char *value = NULL;
        if (!find_letter(*letters, &o))
            return w->lenient ? ASSAY_OK
                              : cli_refuse(err, "unknown option -%c. `assay help %s` lists them.",
                                           *letters >= ' ' && *letters < 127 ? *letters : '?',
                                           w->args->command->name);
        if (!w->lenient && !cli_takes(w->args->command, &o))
            return refuse_option(w->args, &o, err);
        if (o.value) {
            value = letters[1]                 ? letters + 1
                    : w->i + 1 < w->args->argc ? w->args->argv[++w->i]
                                               : NULL;
            if (!value)
                return w->lenient ? ASSAY_OK : cli_refuse(err, "-%c needs a value.", *letters);
        }
        assay_status s = w->option(w->args, &o, value, err);
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
            if (!w->args->command || !cli_command_is(w->args->command, "rest"))
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

static assay_status skip_option(cli_args *a, const assay_option_info *o, const char *value,
                                assay_error *err)
{
    (void)value;
    (void)err;
    a->help = a->help || strcmp(o->name, "help") == 0;
    a->version = a->version || strcmp(o->name, "version") == 0;
    return ASSAY_OK;
}

static assay_status take_first_word(cli_args *a, const char *word, assay_error *err)
{
    (void)err;
    if (a->n_words++ == 0) {
        a->command = cli_find_command(word);
        a->command_given = a->command != NULL;
        a->left_out = cli_is_left_out(word) ? word : NULL;
    }
    return ASSAY_OK;
}

/* ---- the second walk ---- */

/* A bare number is where layers are called compute-bound: nothing that every command shows. */
static assay_status set_option(cli_args *a, const assay_option_info *o, const char *value,
                               assay_error *err)
{
    bool number = value && *value && strspn(value, "0123456789.") == strlen(value);
    a->any_option = true;
    if (number && strcmp(o->name, "threshold") == 0 && cli_command_is(a->command, "limits"))
        return cli_refuse(err, "--threshold %s has no effect on %s; give METRIC:LIMIT.", value,
                          a->command->name);
    return cli_option_set(a, o, value, err);
}

static assay_status keep_word(cli_args *a, const char *word, assay_error *err)
{
    if (a->n_words == CLI_MAX_WORDS)
        return cli_refuse(err, "There are too many words on the command line.");
    a->words[a->n_words++] = word;
    return ASSAY_OK;
}

/* ---- models that options name ---- */

static assay_status place_list(cli_args *a, assay_error *err)
{
    char *rest = NULL;
    assay_status s = ASSAY_OK;
    if (!a->model.list)
        return ASSAY_OK;
    a->model.split = strdup(a->model.list);
    if (!a->model.split) {
        strcpy(err->message, "out of memory");
        return err->code = ASSAY_ERR_SYSTEM;
    }
    for (char *w = strtok_r(a->model.split, ", ", &rest); w && s == ASSAY_OK;
         w = strtok_r(NULL, ", ", &rest))
        s = keep_word(a, w, err);
    return s;
}

/* A configuration is a model, or says how the model that was given is to be built. */
static assay_status place_config(cli_args *a, assay_error *err)
{
    a->model.config = assay_options_get(a->options, "config");
    if (!a->model.config || a->n_words)
        return ASSAY_OK;
    assay_status s = keep_word(a, a->model.config, err);
    return s == ASSAY_OK ? assay_options_set(a->options, "config", "", err) : s;
}

/* Names become words where words are models; elsewhere they select. */
static assay_status place_models(cli_args *a, assay_error *err)
{
    bool words = a->command->values && (strcmp(a->command->values, "@models") == 0 ||
                                        strcmp(a->command->values, "@pipelines") == 0);
    assay_status s = words ? place_list(a, err) : ASSAY_OK;
    for (int i = 0; words && i < a->model.names.n && s == ASSAY_OK; i++)
        s = keep_word(a, a->model.names.items[i], err);
    if (s == ASSAY_OK)
        s = place_config(a, err);
    a->fell_back = s == ASSAY_OK && !a->n_words && a->command_given && a->command->fallback;
    return a->fell_back ? keep_word(a, a->command->fallback, err) : s;
}

/* ---- outputs ---- */

/* The file's name without directories and its last suffix: what may stand in a file's name. */
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

/* Of --output-dir: every file format, or the requested one. */
static bool belongs_in_folder(const cli_args *a, const char *format)
{
    if (a->output.format)
        return strcmp(a->output.format, format) == 0;
    bool page = strcmp(format, "html") == 0;
    return cli_has_word("json|csv|md|html", '|', format, strlen(format)) &&
           !(page && !*assay_page_licenses());
}

static assay_status place_folder(cli_args *a, assay_error *err)
{
    assay_format_info f = {.size = sizeof f};
    cli_output_args *out = &a->output;
    char stem[256];
    int n = 0;
    if (!out->dir || !a->n_words)
        return ASSAY_OK;
    put_stem(a->words[0], stem, sizeof stem);
    for (size_t i = 0; assay_format_at(i, &f) && n < CLI_DIR_FILES; i++) {
        if (!belongs_in_folder(a, f.name))
            continue;
        if (out->paths.n == CLI_MAX_OUTPUTS)
            return cli_refuse(err, "There are more than %d outputs.", CLI_MAX_OUTPUTS);
        if (snprintf(out->dir_paths[n], CLI_DIR_PATH_MAX, "%s/%s%s", out->dir, stem, f.suffix) >=
            CLI_DIR_PATH_MAX)
            return cli_refuse(err, "The name of --output-dir is too long.");
        out->paths.items[out->paths.n++] = out->dir_paths[n++];
    }
    return ASSAY_OK;
}

static assay_status check_format(const cli_args *a, assay_error *err)
{
    const char *name = a->output.format, *formats = a->command->formats;
    if (!name || !formats || cli_has_word(formats, '|', name, strlen(name)))
        return ASSAY_OK;
    return cli_refuse(err, "%s has no format '%.60s'. Use one of %s.", a->command->name, name,
                      formats);
}

/* ---- the whole ---- */

bool cli_is_builtin(const char *word)
{
    assay_model_info info = {.size = sizeof info};
    for (size_t i = 0; assay_model_at(i, &info); i++)
        if (strcmp(info.name, word) == 0)
            return true;
    return false;
}

/* Words without a command: a slip of one, or models to compare. */
static assay_status refuse_no_command(const cli_args *a, assay_error *err)
{
    const char *near = cli_is_builtin(a->words[0])
                           ? NULL
                           : cli_nearest(a->words[0], cli_command_name_at, NULL);
    char models[256] = "";
    size_t n = 0;
    if (near)
        return cli_refuse(err, "unknown command '%.100s'. Did you mean '%s'?", a->words[0], near);
    for (int i = 0; i < a->n_words && i < 4; i++)
        n += (size_t)snprintf(models + n, sizeof models - n, " %.48s", a->words[i]);
    return cli_refuse(err, "'%.100s' is not a command. Did you mean `assay compare%s%s`?",
                      a->words[0], models, a->n_words > 4 ? " ..." : "");
}

static assay_status check_words(cli_args *a, assay_error *err)
{
    const cli_command *c = a->command;
    if (a->n_words >= c->min_words && a->n_words <= c->max_words)
        return ASSAY_OK;
    if (a->n_words < c->min_words)
        return cli_refuse(err, "too few arguments. Usage: assay %s %s [options]", c->name,
                          c->words);
    if (!a->command_given)
        return refuse_no_command(a, err);
    return cli_refuse(err, "unexpected argument '%.100s'. Usage: assay %s%s%s [options]",
                      a->words[c->max_words], c->name, *c->words ? " " : "", c->words);
}

static assay_status parse_for_command(cli_args *a, assay_error *err)
{
    walker second = {.args = a, .option = set_option, .word = keep_word};
    a->n_words = 0;
    assay_status s = walk_all(&second, err);
    if (s == ASSAY_OK && a->command_given) {
        a->n_words--;
        memmove(a->words, a->words + 1, sizeof *a->words * (size_t)a->n_words);
    }
    if (s == ASSAY_OK)
        s = place_models(a, err);
    if (s == ASSAY_OK)
        s = check_format(a, err);
    if (s == ASSAY_OK)
        s = place_folder(a, err);
    if (s == ASSAY_OK)
        s = check_words(a, err);
    return s == ASSAY_OK ? cli_check_effects(a, err) : s;
}

/* --raise-limit: the library takes its limits from the environment. */
static assay_status apply_limits(const cli_args *a, assay_error *err)
{
    const char *before = getenv("ASSAY_LIMITS");
    char all[4096];
    int n = snprintf(all, sizeof all, "%s", before ? before : "");
    for (int i = 0; i < a->raised.n && n < (int)sizeof all; i++)
        n += snprintf(all + n, sizeof all - (size_t)n, "%s%s", n ? "," : "", a->raised.items[i]);
    if (n >= (int)sizeof all)
        return cli_refuse(err, "too many limits: --raise-limit and ASSAY_LIMITS have %d bytes", n);
    if (!n)
        return ASSAY_OK;
    if (assay_limits_check(all, err) != ASSAY_OK)
        return err->code;
    setenv("ASSAY_LIMITS", all, 1);
    return ASSAY_OK;
}

assay_status cli_parse(int argc, char **argv, cli_args *a, assay_error *err)
{
    *a = (cli_args){.argc = argc, .argv = argv, .options = assay_options_new()};
    *err = (assay_error){.offset = ASSAY_NO_OFFSET};
    if (!a->options) {
        cli_refuse(err, "Out of memory.");
        return err->code = ASSAY_ERR_SYSTEM;
    }
    walker first = {.args = a, .option = skip_option, .word = take_first_word, .lenient = true};
    walk_all(&first, err);
    if (a->help || a->version)
        return ASSAY_OK;
    if (a->left_out) {
        cli_refuse(err, CLI_LEFT_OUT, a->left_out);
        return err->code = ASSAY_ERR_UNSUPPORTED;
    }
    if (!a->command)
        a->command = cli_find_command("graph");
    assay_status s = parse_for_command(a, err);
    return s == ASSAY_OK ? apply_limits(a, err) : s;
}

void cli_args_free(cli_args *a)
{
    assay_options_free(a->options);
    free(a->model.split);
}
