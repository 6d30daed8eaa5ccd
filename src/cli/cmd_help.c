/* assay help: the commands and their options, from the rows. */
#include <string.h>

#include "cli/cli.h"

enum { COMMAND_COLUMN = 14, OPTION_COLUMN = 34 };

static void put_commands(void)
{
    const cli_command *c;
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        printf("  %-*s", COMMAND_COLUMN - 2, c->name);
        cli_wrap(c->about, COMMAND_COLUMN, COMMAND_COLUMN, cli_width());
    }
}

/* "history, trend: select records.": a note on other commands than c. */
static bool is_of_others(const cli_command *c, const char *sentence, size_t n)
{
    const char *colon = memchr(sentence, ':', n);
    size_t length = colon ? (size_t)(colon - sentence) : 0;
    char head[64], *rest = NULL;
    if (!length || length >= sizeof head)
        return false;
    memcpy(head, sentence, length);
    head[length] = '\0';
    char *word = strtok_r(head, ", ", &rest);
    bool named = word && cli_find_command(word);
    for (; named && word; word = strtok_r(NULL, ", ", &rest))
        if (strcmp(word, c->name) == 0)
            return false;
    return named;
}

/* Removes the notes on other commands from the text of an option, in place. */
static void keep_own_notes(const cli_command *c, char *text)
{
    size_t kept = 0;
    for (const char *from = text, *end; *from; from = end) {
        end = strstr(from, ". ");
        end = end ? end + 2 : from + strlen(from);
        size_t n = (size_t)(end - from);
        if (is_of_others(c, from, n))
            continue;
        memmove(text + kept, from, n);
        kept += n;
    }
    text[kept] = '\0';
}

static void put_option(const cli_command *c, const assay_option_info *o)
{
    const char *value = cli_option_value(c, o);
    char left[160], text[512];
    int n = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", o->letter ? '-' : ' ',
                     o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                     value ? " " : "", value ? value : "");
    fputs(left, stdout);
    if (n + 2 > OPTION_COLUMN)
        printf("\n%*s", OPTION_COLUMN, "");
    else
        printf("%*s", OPTION_COLUMN - n, "");
    cli_option_text(o, text, sizeof text);
    keep_own_notes(c, text);
    cli_wrap(text, OPTION_COLUMN, OPTION_COLUMN, cli_width());
}

static void put_topic(const cli_command *c, const char *topic)
{
    assay_option_info o;
    bool titled = false;
    for (size_t i = 0; cli_option_at(i, &o); i++) {
        if (strcmp(o.topic, topic) != 0 || !cli_takes(c, &o))
            continue;
        if (!titled)
            printf("\n%s:\n", topic);
        titled = true;
        put_option(c, &o);
    }
}

static void put_examples(const cli_command *c)
{
    if (!c->examples)
        return;
    puts("\nExamples:");
    for (const char *const *e = c->examples; *e; e += 2)
        printf("  %s\n      %s\n", e[0], e[1]);
}

int cli_help_of(const cli_command *c)
{
    printf("assay %s%s%s%s\n\n", c->name, *c->words ? " " : "", c->words, " [options]");
    cli_wrap(c->about, 0, 0, cli_width());
    if (c->more)
        cli_wrap(c->more, 0, 0, cli_width());
    const char *topic;
    for (size_t i = 0; (topic = cli_topic_at(i)); i++)
        put_topic(c, topic);
    put_examples(c);
    return cli_flush();
}

static void put_exit_codes(void)
{
    puts("\nExit codes:");
    for (size_t i = 0; i < cli_n_exit_codes; i++)
        printf("  %-3d %s\n", (int)cli_exit_codes[i], assay_status_text(cli_exit_codes[i]));
}

static int help_word(const char *word)
{
    const cli_command *c = cli_find_command(word);
    if (c)
        return cli_help_of(c);
    if (cli_is_left_out(word))
        return cli_complain_text(ASSAY_ERR_UNSUPPORTED, CLI_LEFT_OUT, word);
    const char *near = cli_nearest(word, cli_command_name_at, NULL);
    return near ? cli_complain_text(ASSAY_ERR_USAGE, "unknown command '%.100s'. Did you mean '%s'?",
                                    word, near)
                : cli_complain_text(ASSAY_ERR_USAGE,
                                    "unknown command '%.100s'. `assay help` lists the commands.",
                                    word);
}

int cli_help(void)
{
    printf("assay %s: profile machine learning models\n\n", assay_version());
    puts("  assay MODEL [options]           analyse a model without running it");
    puts("  assay COMMAND [options]         run another command\n\nCommands:");
    put_commands();
    puts("\n`assay help COMMAND` lists the options of a command. The most common:");
    puts("  --batch N, --input-shape 1,3,224,224, --dim NAME=N    set sizes");
    puts("  -o FILE.json|.csv|.md|.html, --json, -q               write results to files");
    puts("  --top N, --depth N, -v                                show more");
    put_exit_codes();
    return cli_flush();
}

static int run_help(cli_args *args)
{
    if (args->man || args->docs || args->output.format) {
        int code = cli_allow_options(args,
                                     args->man    ? "man"
                                     : args->docs ? "docs"
                                                  : "format json",
                                     "help prints one form");
        return code                ? code
               : args->man         ? cli_help_man()
               : args->docs        ? cli_help_docs()
               : cli_as_json(args) ? cli_help_json()
                                   : cli_help();
    }
    return args->n_words ? help_word(args->words[0]) : cli_help();
}

const cli_command command_help = {CLI_COMMAND("help", "[COMMAND]", 0, 1, run_help),
                                  .classes = "list", .formats = CLI_LIST_FORMATS,
                                  .values = "@commands",
                                  .about = "Explain a command and its options."};
