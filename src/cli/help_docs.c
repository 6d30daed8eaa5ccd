/* assay help --docs: the reference part of docs/cli.md, as Markdown tables: commands, options by topic, exit
 * codes. tools/cli_doc puts it into the page. */
#include <string.h>

#include "cli/cli.h"

/* Inside a cell of a table. */
static void put_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
}

static void put_commands(void)
{
    const cli_command *c;
    puts("## Commands\n\n| command | what it does |\n|---|---|");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        printf("| `%s%s", c->name, *c->words ? " " : "");
        put_cell(c->words);
        fputs("` | ", stdout);
        put_cell(c->about);
        puts(" |");
    }
}

static void put_formats(void)
{
    const cli_command *c;
    puts("\nFormats of results (`--format`), the first is the default:\n\n"
         "| command | formats |\n|---|---|");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        if (!c->formats)
            continue;
        printf("| `%s` | ", c->name);
        for (const char *at = c->formats; *at; at++)
            fputs(*at == '|' ? ", " : (char[]){*at, 0}, stdout);
        puts(" |");
    }
}

static void put_takers(const assay_option_info *o)
{
    const cli_command *c;
    const char *before = "";
    if (strcmp(o->commands, "*") == 0) {
        fputs("every command", stdout);
        return;
    }
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        if (cli_takes(c, o)) {
            printf("%s%s", before, c->name);
            before = ", ";
        }
}

static void put_option(const assay_option_info *o)
{
    char text[512];
    fputs("| ", stdout);
    if (o->letter)
        printf("`-%c`, ", o->letter);
    printf("`--%s%s", o->name, o->value ? " " : "");
    put_cell(o->value ? o->value : "");
    fputs("` | ", stdout);
    cli_option_text(o, text, sizeof text);
    put_cell(text);
    fputs(" | ", stdout);
    put_takers(o);
    puts(" |");
}

static void put_topic(const char *topic)
{
    assay_option_info o;
    printf("\n### %s\n\n| option | what it does | commands |\n|---|---|---|\n", topic);
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (*o.commands && strcmp(o.topic, topic) == 0)
            put_option(&o);
}

static void put_exit_codes(void)
{
    puts("\n## Exit codes\n\n| code | meaning |\n|---|---|");
    for (size_t i = 0; i < cli_n_exit_codes; i++)
        printf("| %d | %s |\n", (int)cli_exit_codes[i], assay_status_text(cli_exit_codes[i]));
}

int cli_help_docs(void)
{
    const char *topic;
    put_commands();
    put_formats();
    puts("\n## Options");
    for (size_t i = 0; (topic = cli_topic_at(i)); i++)
        put_topic(topic);
    put_exit_codes();
    return cli_flush();
}
