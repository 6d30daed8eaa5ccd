/* assay completion: scripts for three shells, from the rows. */
#include <string.h>

#include "cli/cli.h"

static bool names_a_file(const cli_option *row, const char *value)
{
    return row->id == OPT_MODEL || strstr(value, "FILE");
}

/* "MODEL", "[MODEL ...]", "A B [...]". */
static bool takes_models(const cli_command *c)
{
    return strstr(c->words, "MODEL") || strncmp(c->words, "A ", 2) == 0;
}

static void put_model_names(void)
{
    assay_model_info info = {.size = sizeof info};
    for (size_t i = 0; assay_model_at(i, &info); i++)
        printf("%s%s", i ? " " : "", info.name);
}

static void put_model_commands(const char *separator)
{
    const char *before = "";
    for (size_t c = 0; c < cli_n_commands; c++)
        if (takes_models(&cli_commands[c])) {
            printf("%s%s", before, cli_commands[c].name);
            before = separator;
        }
}

/* "console|json|csv" is a list to choose from; "N" and "NAME=N" are not. */
static bool is_choice(const char *value)
{
    return value && strchr(value, '|') && !strchr(value, '.');
}

static void put_choices(const char *value, char separator)
{
    for (; *value; value++)
        putchar(*value == '|' ? separator : *value);
}

/* ---- bash ---- */

static void put_bash_values(void)
{
    for (size_t i = 0; i < cli_n_options; i++) {
        const cli_option *row = &cli_options[i];
        const char *value, *about;
        cli_option_text(row, &value, &about);
        if (!value)
            continue;
        printf("    --%s", row->name);
        if (row->letter)
            printf(" | -%c", row->letter);
        fputs(") ", stdout);
        if (is_choice(value)) {
            fputs("COMPREPLY=($(compgen -W '", stdout);
            put_choices(value, ' ');
            puts("' -- \"$cur\")); return ;;");
        } else if (names_a_file(row, value)) {
            puts("COMPREPLY=($(compgen -f -- \"$cur\")); return ;;");
        } else {
            puts("return ;;");
        }
    }
}

static void put_bash_options(void)
{
    for (size_t c = 0; c < cli_n_commands; c++) {
        printf("    %s) options='", cli_commands[c].name);
        for (size_t i = 0; i < cli_n_options; i++)
            if (cli_options[i].on & cli_commands[c].bit)
                printf("--%s ", cli_options[i].name);
        puts("' ;;");
    }
}

static void put_bash(void)
{
    puts("# bash completion for assay; made by `assay completion bash`\n_assay() {");
    puts("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
    puts("    local command=graph options word\n    COMPREPLY=()\n    case $prev in");
    put_bash_values();
    puts(
        "    esac\n    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n        case $word in");
    fputs("        ", stdout);
    for (size_t c = 0; c < cli_n_commands; c++)
        printf("%s%s", c ? " | " : "", cli_commands[c].name);
    puts(") command=$word; break ;;\n        esac\n    done\n    case $command in");
    put_bash_options();
    puts("    esac\n    if [[ $cur == -* ]]; then");
    puts("        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n        return\n    fi");
    puts(
        "    case $command in\n    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")) ;;");
    fputs("    help) COMPREPLY=($(compgen -W '", stdout);
    for (size_t c = 0; c < cli_n_commands; c++)
        printf("%s ", cli_commands[c].name);
    puts("' -- \"$cur\")) ;;");
    fputs("    ", stdout);
    put_model_commands(" | ");
    fputs(") COMPREPLY=($(compgen -f -- \"$cur\") $(compgen -W '", stdout);
    put_model_names();
    puts("' -- \"$cur\")) ;;\n    esac");
    fputs("    if [[ $COMP_CWORD == 1 ]]; then\n        COMPREPLY+=($(compgen -W '", stdout);
    for (size_t c = 0; c < cli_n_commands; c++)
        printf("%s ", cli_commands[c].name);
    puts("' -- \"$cur\"))\n    fi\n}\ncomplete -o filenames -o bashdefault -F _assay assay");
}

/* ---- zsh ---- */

/* Inside '...' and [...]. */
static void put_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void put_zsh_option(const cli_option *row)
{
    const char *value, *about;
    cli_option_text(row, &value, &about);
    if (row->letter)
        printf("            '(-%c --%s)'{-%c,--%s}'[", row->letter, row->name, row->letter,
               row->name);
    else
        printf("            '*--%s[", row->name);
    put_zsh_text(about ? about : "");
    fputs("]", stdout);
    if (is_choice(value)) {
        fputs(":value:(", stdout);
        put_choices(value, ' ');
        fputs(")", stdout);
    } else if (value) {
        fputs(names_a_file(row, value) ? ":file:_files" : ":value:", stdout);
    }
    puts("' \\");
}

static void put_zsh(void)
{
    puts("#compdef assay\n# made by `assay completion zsh`\n_assay_models() {");
    fputs("    _alternative 'files:file:_files' 'names:built-in model:(", stdout);
    put_model_names();
    puts(")'\n}\n_assay() {\n    local command=graph word");
    fputs("    for word in ${words[2,CURRENT-1]}; do\n        case $word in\n        ", stdout);
    for (size_t c = 0; c < cli_n_commands; c++)
        printf("%s%s", c ? "|" : "", cli_commands[c].name);
    puts(") command=$word; break ;;\n        esac\n    done");
    puts("    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (size_t c = 0; c < cli_n_commands; c++) {
        printf("            '%s:", cli_commands[c].name);
        put_zsh_text(cli_commands[c].about);
        puts("'");
    }
    puts("        )\n        _describe command commands\n    fi\n    case $command in");
    for (size_t c = 0; c < cli_n_commands; c++) {
        printf("    %s)\n        _arguments -s \\\n", cli_commands[c].name);
        for (size_t i = 0; i < cli_n_options; i++)
            if (cli_options[i].on & cli_commands[c].bit)
                put_zsh_option(&cli_options[i]);
        puts(cli_commands[c].bit == ON_COMPLETION ? "            '*:shell:(bash zsh fish)'"
             : takes_models(&cli_commands[c])     ? "            '*:model:_assay_models'"
                                                  : "            '*:word:'");
        puts("        ;;");
    }
    puts("    esac\n}\n_assay \"$@\"");
}

/* ---- fish ---- */

static void put_fish_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void put_fish_option(const cli_option *row)
{
    const char *value, *about;
    cli_option_text(row, &value, &about);
    printf("complete -c assay -l %s", row->name);
    if (row->letter)
        printf(" -s %c", row->letter);
    if (!(row->on & ON_GRAPH)) {
        fputs(" -n '__fish_seen_subcommand_from", stdout);
        for (size_t c = 0; c < cli_n_commands; c++)
            if (row->on & cli_commands[c].bit)
                printf(" %s", cli_commands[c].name);
        putchar('\'');
    }
    if (is_choice(value)) {
        fputs(" -x -a '", stdout);
        put_choices(value, ' ');
        putchar('\'');
    } else if (value) {
        fputs(names_a_file(row, value) ? " -r -F" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    put_fish_text(about ? about : "");
    puts("'");
}

static void put_fish(void)
{
    puts("# fish completion for assay; made by `assay completion fish`");
    for (size_t c = 0; c < cli_n_commands; c++) {
        printf("complete -c assay -n __fish_use_subcommand -a %s -d '", cli_commands[c].name);
        put_fish_text(cli_commands[c].about);
        puts("'");
    }
    puts("complete -c assay -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'");
    fputs("complete -c assay -n '__fish_seen_subcommand_from ", stdout);
    put_model_commands(" ");
    fputs("' -a '", stdout);
    put_model_names();
    puts("'");
    for (size_t i = 0; i < cli_n_options; i++)
        put_fish_option(&cli_options[i]);
}

static const struct {
    const char *name;
    void (*put)(void);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

int cmd_completion(cli_args *args)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(args->words[0], shells[i].name) == 0) {
            shells[i].put();
            return cli_flush();
        }
    return cli_complain_text(
        ASSAY_ERR_USAGE, "There is no completion for '%.60s'; there is one for bash, zsh and fish.",
        args->words[0]);
}
