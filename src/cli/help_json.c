/* assay help --json: the tables of commands and options, for tools and tests. */
#include <string.h>

#include "cli/cli.h"

static void put_list(const char *key, const char *words, char separator)
{
    const char *before = "";
    printf("\"%s\": [", key);
    for (const char *at = words ? words : ""; *at;) {
        const char *end = strchr(at, separator);
        size_t n = end ? (size_t)(end - at) : strlen(at);
        printf("%s\"%.*s\"", before, (int)n, at);
        before = ", ";
        at += n + (end != NULL);
    }
    putchar(']');
}

static void put_command(const cli_command *c, bool first)
{
    fputs(first ? "    {" : ",\n    {", stdout);
    cli_json_text("name", c->name);
    fputs(", ", stdout);
    cli_json_text("words", c->words);
    fputs(", ", stdout);
    cli_json_text("about", c->about);
    fputs(", ", stdout);
    put_list("formats", c->formats, '|');
    putchar('}');
}

static void put_takers(const assay_option_info *o)
{
    const cli_command *c;
    const char *before = "";
    fputs("\"commands\": [", stdout);
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        if (cli_takes(c, o)) {
            printf("%s\"%s\"", before, c->name);
            before = ", ";
        }
    putchar(']');
}

static void put_option(const assay_option_info *o, bool first)
{
    fputs(first ? "    {" : ",\n    {", stdout);
    cli_json_text("name", o->name);
    if (o->letter)
        printf(", \"letter\": \"%c\"", o->letter);
    if (o->value) {
        fputs(", ", stdout);
        cli_json_text("value", o->value);
    }
    fputs(", ", stdout);
    cli_json_text("topic", o->topic);
    fputs(", ", stdout);
    cli_json_text("about", o->about);
    printf(", \"repeatable\": %s, ", o->repeatable ? "true" : "false");
    put_list("values", o->values, '|');
    fputs(", ", stdout);
    put_list("formats", o->formats, '|');
    fputs(", ", stdout);
    put_list("needs", o->needs, '|');
    if (o->min < o->max)
        printf(", \"min\": %.0f, \"max\": %.0f", o->min, o->max);
    if (*o->initial)
        printf(", \"default\": \"%s\"", o->initial);
    fputs(", ", stdout);
    put_takers(o);
    putchar('}');
}

int cli_help_json(void)
{
    const cli_command *c;
    assay_option_info o;
    bool first = true;
    puts("{\n  \"commands\": [");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        put_command(c, i == 0);
    puts("\n  ],\n  \"options\": [");
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (*o.commands) {
            put_option(&o, first);
            first = false;
        }
    puts("\n  ]\n}");
    return cli_flush();
}
