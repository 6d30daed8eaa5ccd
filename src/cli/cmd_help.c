/* assay help: the commands and their options, from the rows. */
#include <string.h>

#include "cli/cli.h"

enum { COMMAND_COLUMN = 14, OPTION_COLUMN = 34 };

static void put_commands(void)
{
    for (size_t i = 0; i < cli_n_commands; i++) {
        printf("  %-*s", COMMAND_COLUMN - 2, cli_commands[i].name);
        cli_wrap(cli_commands[i].about, COMMAND_COLUMN, COMMAND_COLUMN, cli_width());
    }
}

static void put_option(const cli_option *row)
{
    const char *value, *about;
    char left[96];
    cli_option_text(row, &value, &about);
    int n = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", row->letter ? '-' : ' ',
                     row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
                     value ? " " : "", value ? value : "");
    fputs(left, stdout);
    if (n + 2 > OPTION_COLUMN)
        printf("\n%*s", OPTION_COLUMN, "");
    else
        printf("%*s", OPTION_COLUMN - n, "");
    cli_wrap(about ? about : "", OPTION_COLUMN, OPTION_COLUMN, cli_width());
}

static void put_examples(const cli_command *c)
{
    if (!c->examples)
        return;
    puts("\nExamples:");
    for (const char *const *e = c->examples; *e; e += 2)
        printf("  %s\n      %s\n", e[0], e[1]);
}

int cmd_help_of(const cli_command *c)
{
    printf("assay %s%s%s%s\n\n", c->name, *c->words ? " " : "", c->words, " [options]");
    cli_wrap(c->about, 0, 0, cli_width());
    if (c->more)
        cli_wrap(c->more, 0, 0, cli_width());
    puts("\nOptions:");
    for (size_t i = 0; i < cli_n_options; i++)
        if (cli_options[i].on & c->bit)
            put_option(&cli_options[i]);
    put_examples(c);
    return cli_flush();
}

static void put_exit_codes(void)
{
    puts("\nExit codes:");
    for (size_t i = 0; i < cli_n_exit_codes; i++)
        printf("  %-3d %s\n", (int)cli_exit_codes[i], assay_status_text(cli_exit_codes[i]));
}

static const char *command_name_at(size_t i, const void *ctx)
{
    (void)ctx;
    return i < cli_n_commands ? cli_commands[i].name : NULL;
}

static int help_word(const char *word)
{
    const cli_command *c = cli_find_command(word);
    if (c)
        return cmd_help_of(c);
    const char *near = cli_nearest(word, command_name_at, NULL);
    return cli_complain_text(ASSAY_ERR_USAGE, "There is no command '%.100s'.%s%s%s", word,
                             near ? " Did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int cmd_help(cli_args *args)
{
    if (args->man)
        return cmd_man();
    if (args->n_words && args->command)
        return help_word(args->words[0]);
    printf("assay %s: what a model costs\n\n", assay_version());
    puts("  assay MODEL [options]           the instant answer");
    puts("  assay COMMAND [options]         everything else\n\nCommands:");
    put_commands();
    puts("\n`assay help COMMAND` lists the options of a command. The ones used most:");
    puts("  --batch N, --input-shape 1,3,224,224, --dim NAME=N    sizes");
    puts("  -o FILE.json|.csv|.md|.html, --json, -q               results in files");
    puts("  --top N, --depth N, -v                                more on the screen");
    put_exit_codes();
    return cli_flush();
}
