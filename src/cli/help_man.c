/* assay help --man: the manual page as scdoc source, from the rows. scdoc takes _ * \ < # - at certain
 * places for markup, so whatever comes from a row is escaped. */
#include <string.h>

#include "cli/cli.h"

static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '`')
            continue;
        if (strchr("_*\\<>#+|~[].", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void put_man_option(const assay_option_info *o)
{
    char text[512];
    if (o->letter)
        printf("*-%c*, ", o->letter);
    printf("*--%s*", o->name);
    if (o->value) {
        fputs(" ", stdout);
        put_escaped(o->value);
    }
    fputs("\n\t", stdout);
    cli_option_text(o, text, sizeof text);
    put_escaped(text);
    fputs("\n\n", stdout);
}

static void put_man_topic(const char *topic)
{
    assay_option_info o;
    printf("## %s\n\n", topic);
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (*o.commands && strcmp(o.topic, topic) == 0)
            put_man_option(&o);
}

static void put_man_command(const cli_command *c)
{
    printf("*assay %s* ", c->name);
    put_escaped(c->words);
    fputs("\n\t", stdout);
    put_escaped(c->about);
    if (c->more) {
        putchar(' ');
        put_escaped(c->more);
    }
    fputs("\n\n", stdout);
}

static void put_man_examples(void)
{
    const cli_command *c;
    puts("# EXAMPLES\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        for (const char *const *e = c->examples; e && *e; e += 2) {
            put_escaped(e[0]);
            fputs("\n\t", stdout);
            put_escaped(e[1]);
            fputs("\n\n", stdout);
        }
}

static void put_man_codes(void)
{
    puts("# EXIT STATUS\n");
    for (size_t i = 0; i < cli_n_exit_codes; i++) {
        printf("*%d*\n\t", (int)cli_exit_codes[i]);
        put_escaped(assay_status_text(cli_exit_codes[i]));
        fputs("\n\n", stdout);
    }
}

int cli_help_man(void)
{
    const cli_command *c;
    const char *topic;
    puts("assay(1)\n\n# NAME\n\nassay - what a machine learning model costs\n");
    puts(
        "# SYNOPSIS\n\n*assay* MODEL \\[options\\]\n\n*assay* COMMAND \\[words\\] \\[options\\]\n");
    puts("# DESCRIPTION\n");
    puts(
        "assay reads a model and says what a run of it costs: parameters, multiply-accumulates, FLOPs,\n"
        "bytes moved, memory at the peak, where the work is and what limits it. What had to be\n"
        "assumed and what is unknown is said first. Only the commands that measure run the model.\n");
    puts("# COMMANDS\n");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        put_man_command(c);
    puts("# OPTIONS\n");
    for (size_t i = 0; (topic = cli_topic_at(i)); i++)
        put_man_topic(topic);
    puts("# ENVIRONMENT\n");
    puts("*NO\\_COLOR*\n\tWhen set, no colours.\n");
    puts("*COLUMNS*\n\tColumns of the screen.\n");
    puts("*LC\\_ALL*, *LC\\_CTYPE*, *LANG*\n\tWhen they do not name UTF-8, the screen is ASCII.\n");
    puts("*ASSAY\\_ORT\\_LIB*\n\tThe library of ONNX Runtime, for the commands that measure.\n");
    puts("*SOURCE\\_DATE\\_EPOCH*\n\tThe time that results carry, for reproducible files.\n");
    put_man_examples();
    put_man_codes();
    return cli_flush();
}
