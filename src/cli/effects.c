/* Refuses options without effect: checks that depend on the other options of the command line. */
#include <string.h>

#include "cli/cli.h"

/* ---- formats ---- */

/* The format of an output: as requested, else by its suffix. */
static const char *format_of_path(const cli_args *a, const char *path)
{
    if (a->output.format || strcmp(path, "-") == 0)
        return a->output.format ? a->output.format : "console";
    return assay_format_of(path);
}

static bool writes_format(const cli_args *a, const char *formats)
{
    const cli_words *paths = &a->output.paths;
    const char *shown = paths->n == 0 && a->output.format ? a->output.format : "console";
    bool any = cli_has_word(formats, '|', shown, strlen(shown));
    for (int i = 0; i < paths->n && !any; i++) {
        const char *format = format_of_path(a, paths->items[i]);
        any = format && cli_has_word(formats, '|', format, strlen(format));
    }
    return any;
}

/* ---- other options ---- */

/* The next option that o needs and the command takes; false past the end. *at begins at o->needs. */
static bool next_needed(const cli_command *c, const char **at, assay_option_info *out)
{
    while (**at) {
        size_t n = strcspn(*at, "|"), prefix = strcspn(*at, ":|");
        const char *name = *at;
        bool other = prefix < n && (strlen(c->name) != prefix || memcmp(c->name, *at, prefix) != 0);
        if (prefix < n)
            name += prefix + 1;
        *at += n + ((*at)[n] == '|');
        if (!other && cli_find_option(name, strcspn(name, "|"), out) && cli_takes(c, out))
            return true;
    }
    return false;
}

/* Whether one that it needs is given, or the command has none of them. A command that is not "asked" to run
 * decides by itself, and refuses by itself. */
static bool has_what_it_needs(const cli_args *a, const assay_option_info *o)
{
    const char *at = o->needs;
    assay_option_info needed;
    bool any = false;
    while (next_needed(a->command, &at, &needed)) {
        if (cli_given(a, needed.name) ||
            (strcmp(needed.name, "measure") == 0 && !cli_command_is(a->command, "asked")))
            return true;
        any = true;
    }
    return !any;
}

/* "--measure or --baseline". */
static void put_needed(const cli_args *a, const assay_option_info *o, char *out, size_t cap)
{
    const char *at = o->needs;
    assay_option_info needed;
    size_t used = 0;
    *out = 0;
    while (next_needed(a->command, &at, &needed) && used + 64 < cap)
        used += (size_t)snprintf(out + used, cap - used, "%s--%s", used ? " or " : "", needed.name);
}

/* A sweep alone measures several. */
static assay_status check_threads(const cli_args *a, assay_error *err)
{
    const char *threads = cli_given(a, "threads");
    if (!threads || !strchr(threads, ',') || strcmp(a->command->name, "sweep") == 0)
        return ASSAY_OK;
    return cli_refuse(
        err, "--threads must be one number, got '%.100s'. `assay sweep` takes a list.", threads);
}

assay_status cli_check_effects(const cli_args *a, assay_error *err)
{
    assay_option_info o;
    char needed[256];
    for (size_t i = 0; a->any_option && cli_option_at(i, &o); i++) {
        if ((!*o.formats && !*o.needs) || !cli_given(a, o.name))
            continue;
        if (*o.formats && !writes_format(a, o.formats))
            return cli_refuse(err, "--%s has no effect: it is for %s, and no output is %s", o.name,
                              o.formats, o.formats);
        if (*o.needs && !has_what_it_needs(a, &o)) {
            put_needed(a, &o, needed, sizeof needed);
            return cli_refuse(err, "--%s has no effect on %s without %s", o.name, a->command->name,
                              needed);
        }
    }
    return check_threads(a, err);
}

/* ---- what a command finds out later ---- */

typedef bool concerns_fn(const assay_option_info *o, const char *words);

static int refuse_given(const cli_args *a, concerns_fn *concerns, const char *words,
                        const char *why)
{
    assay_option_info o;
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (cli_given(a, o.name) && concerns(&o, words))
            return cli_complain_text(ASSAY_ERR_USAGE, "--%s has no effect: %s", o.name, why);
    return ASSAY_OK;
}

static bool is_named(const assay_option_info *o, const char *names)
{
    return cli_has_word(names, ' ', o->name, strlen(o->name));
}

static bool needs_option(const assay_option_info *o, const char *option)
{
    return cli_has_word(o->needs, '|', option, strlen(option));
}

static bool is_of_topic(const assay_option_info *o, const char *topics)
{
    return cli_has_word(topics, '|', o->topic, strlen(o->topic));
}

static bool is_not_named(const assay_option_info *o, const char *names)
{
    return !is_named(o, names);
}

int cli_refuse_options(const cli_args *a, const char *names, const char *why)
{
    return refuse_given(a, is_named, names, why);
}

int cli_refuse_needing(const cli_args *a, const char *option, const char *why)
{
    return refuse_given(a, needs_option, option, why);
}

int cli_refuse_topics(const cli_args *a, const char *topics, const char *why)
{
    return refuse_given(a, is_of_topic, topics, why);
}

int cli_allow_options(const cli_args *a, const char *names, const char *why)
{
    return refuse_given(a, is_not_named, names, why);
}
