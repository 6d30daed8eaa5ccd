/* assay completion: scripts for three shells, generated from the rows. The script contains the possible values: names
 * of models, devices, conventions, metrics and formats, files or directories. */
#include <string.h>

#include "cli/cli.h"

/* ---- what can be offered ---- */

typedef void put_words_fn(const cli_command *c);

static void put_models(const cli_command *c)
{
    assay_model_info info = {.size = sizeof info};
    (void)c;
    for (size_t i = 0; assay_model_at(i, &info); i++)
        printf("%s ", info.name);
}

static void put_pipelines(const cli_command *c)
{
    assay_model_info info = {.size = sizeof info};
    const char *name;
    (void)c;
    for (size_t i = 0; assay_pipeline_at(i, &name); i++)
        printf("%s ", name);
    for (size_t i = 0; assay_model_at(i, &info); i++)
        if (strcmp(info.task, "language") == 0)
            printf("%s ", info.name);
}

enum { SEEN_BYTES = 512 };

/* Prints a word the first time. */
static void put_once(char seen[SEEN_BYTES], const char *word)
{
    size_t n = strlen(seen);
    if (cli_has_word(seen, ' ', word, strlen(word)) || n + strlen(word) + 2 > SEEN_BYTES)
        return;
    printf("%s ", word);
    snprintf(seen + n, SEEN_BYTES - n, "%s%s", n ? " " : "", word);
}

static void put_device_words(bool classes)
{
    assay_device_info d = {.size = sizeof d};
    assay_devices *list = NULL;
    char seen[SEEN_BYTES] = "";
    if (assay_devices_open(NULL, &list, NULL) != ASSAY_OK)
        return;
    for (size_t i = 0; assay_devices_at(list, i, &d); i++)
        if (classes)
            put_once(seen, d.kind);
        else
            printf("%s ", d.id);
    assay_devices_free(list);
}

static void put_device_names(const cli_command *c)
{
    (void)c;
    put_device_words(false);
    put_device_words(true);
}

/* Classes and `all` where several devices are taken. */
static void put_devices(const cli_command *c)
{
    bool several = c && cli_has_word("map devices pipeline", ' ', c->name, strlen(c->name));
    put_device_words(false);
    if (several)
        put_device_words(true);
    fputs(several ? "jetson all this " : "this ", stdout);
}

static void put_tasks(const cli_command *c)
{
    assay_model_info info = {.size = sizeof info};
    char seen[SEEN_BYTES] = "";
    (void)c;
    for (size_t i = 0; assay_model_at(i, &info); i++)
        put_once(seen, info.task);
}

static void put_conventions(const cli_command *c)
{
    assay_lens_info info = {.size = sizeof info};
    for (size_t i = 0; assay_lens_at(i, &info); i++)
        printf("%s ", info.name);
    if (c && strcmp(c->name, "validate") == 0)
        fputs("all ", stdout);
}

static void put_metrics(const cli_command *c)
{
    assay_metric_info info = {.size = sizeof info};
    (void)c;
    for (size_t i = 0; assay_metric_at(i, &info); i++)
        printf("%s ", info.name);
}

static void put_formats(const cli_command *c)
{
    for (const char *at = c && c->formats ? c->formats : ""; *at; at++)
        putchar(*at == '|' ? ' ' : *at);
}

static void put_command_names(const cli_command *c)
{
    (void)c;
    for (size_t i = 0; cli_command_at(i); i++)
        printf("%s ", cli_command_at(i)->name);
}

typedef struct value_set {
    const char *name;
    put_words_fn *put; /* NULL: no words */
    const char *paths; /* "file", "folder" or "" */
} value_set;

static const value_set sets[] = {
    {"@files", NULL, "file"},
    {"@folders", NULL, "folder"},
    {"@models", put_models, "file"},
    {"@pipelines", put_pipelines, "folder"},
    {"@devices", put_devices, "file"},
    {"@device-names", put_device_names, ""},
    {"@tasks", put_tasks, ""},
    {"@conventions", put_conventions, ""},
    {"@metrics", put_metrics, ""},
    {"@formats", put_formats, ""},
    {"@commands", put_command_names, ""},
};

static const value_set *find_set(const char *values)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i].name, values) == 0)
            return &sets[i];
    return NULL;
}

static void put_values(const cli_command *c, const char *values)
{
    const value_set *set = find_set(values);
    if (set && set->put)
        set->put(c);
    for (const char *at = set ? "" : values; *at; at++)
        putchar(*at == '|' ? ' ' : *at);
}

static const char *paths_of(const char *values)
{
    const value_set *set = find_set(values);
    return set ? set->paths : "";
}

/* Whether what is offered differs from command to command. */
static bool differs_by_command(const char *values)
{
    return strcmp(values, "@formats") == 0 || strcmp(values, "@conventions") == 0 ||
           strcmp(values, "@devices") == 0;
}

/* ---- bash ---- */

static void put_bash_offer(const cli_command *c, const char *values)
{
    fputs("_assay_offer '", stdout);
    put_values(c, values);
    printf("' '%s'; return ;;\n", paths_of(values));
}

static void put_bash_option(const cli_command *c, const assay_option_info *o)
{
    const char *command = c ? c->name : "*";
    printf("    %s:--%s", command, o->name);
    if (o->letter)
        printf(" | %s:-%c", command, o->letter);
    fputs(") ", stdout);
    put_bash_offer(c, o->values);
}

static void put_bash_values(void)
{
    assay_option_info o;
    for (size_t i = 0; cli_option_at(i, &o); i++) {
        if (!*o.commands || !o.value)
            continue;
        if (!differs_by_command(o.values)) {
            put_bash_option(NULL, &o);
            continue;
        }
        for (size_t c = 0; cli_command_at(c); c++)
            if (cli_takes(cli_command_at(c), &o))
                put_bash_option(cli_command_at(c), &o);
    }
}

static void put_bash_options(void)
{
    const cli_command *c;
    for (size_t k = 0; (c = cli_command_at(k)); k++) {
        assay_option_info o;
        printf("    %s) options='", c->name);
        for (size_t i = 0; cli_option_at(i, &o); i++)
            if (cli_takes(c, &o))
                printf("--%s ", o.name);
        puts("' ;;");
    }
}

static void put_bash_words(void)
{
    const cli_command *c;
    for (size_t k = 0; (c = cli_command_at(k)); k++)
        if (c->values) {
            printf("    %s) ", c->name);
            put_bash_offer(c, c->values);
        }
}

static const char bash_head[] =
    "# bash completion for assay; made by `assay completion bash`\n"
    "_assay_offer() { # WORDS PATHS: after the last comma of a list\n"
    "    local head=\n"
    "    [[ $cur == *,* ]] && head=${cur%,*},\n"
    "    COMPREPLY+=($(compgen -P \"$head\" -W \"$1\" -- \"${cur##*,}\"))\n"
    "    [[ $2 == file ]] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
    "    [[ $2 == folder ]] && COMPREPLY+=($(compgen -d -- \"$cur\"))\n"
    "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null\n"
    "}\n"
    "_assay() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=graph options word\n"
    "    COMPREPLY=()\n"
    "    [[ $cur == = ]] && cur=\n"
    "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "        case $word in\n"
    "        ";

static void put_bash(void)
{
    fputs(bash_head, stdout);
    for (size_t c = 0; cli_command_at(c); c++)
        printf("%s%s", c ? " | " : "", cli_command_at(c)->name);
    puts(") command=$word; break ;;\n        esac\n    done\n    case $command:$prev in");
    put_bash_values();
    puts("    esac\n    case $command in");
    put_bash_options();
    puts("    esac\n    if [[ $cur == -* ]]; then");
    puts("        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n        return\n    fi");
    fputs("    if [[ $COMP_CWORD == 1 ]]; then\n        _assay_offer '", stdout);
    put_command_names(NULL);
    puts("'\n    fi\n    case $command in");
    put_bash_words();
    puts("    esac\n}\ncomplete -o filenames -o bashdefault -F _assay assay");
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

/* ":value:(a b c)", with paths in addition to words if both are offered. */
static void put_zsh_offer(const cli_command *c, const char *what, const char *values)
{
    const value_set *set = find_set(values);
    const char *paths = !*paths_of(values)                      ? ""
                        : strcmp(paths_of(values), "file") == 0 ? "_files"
                                                                : "_files -/";
    printf(":%s:", what);
    if (set && !set->put) {
        fputs(paths, stdout);
    } else if (*paths) {
        printf("{_alternative \"paths:path:%s\" \"names:name:(", paths);
        put_values(c, values);
        fputs(")\"}", stdout);
    } else if (*values) {
        putchar('(');
        put_values(c, values);
        putchar(')');
    }
}

static void put_zsh_option(const cli_command *c, const assay_option_info *o)
{
    if (o->letter)
        printf("            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        printf("            '*--%s[", o->name);
    put_zsh_text(o->about);
    fputs("]", stdout);
    if (o->value)
        put_zsh_offer(c, "value", o->values);
    puts("' \\");
}

static void put_zsh_command(const cli_command *c)
{
    assay_option_info o;
    printf("    %s)\n        _arguments -s \\\n", c->name);
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (cli_takes(c, &o))
            put_zsh_option(c, &o);
    fputs("            '*", stdout);
    put_zsh_offer(c, "word", c->values ? c->values : "");
    puts("'\n        ;;");
}

static void put_zsh(void)
{
    const cli_command *c;
    puts("#compdef assay\n# made by `assay completion zsh`\n_assay() {\n"
         "    local command=graph word");
    fputs("    for word in ${words[2,CURRENT-1]}; do\n        case $word in\n        ", stdout);
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        printf("%s%s", i ? "|" : "", c->name);
    puts(") command=$word; break ;;\n        esac\n    done");
    puts("    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        printf("            '%s:", c->name);
        put_zsh_text(c->about);
        puts("'");
    }
    puts("        )\n        _describe command commands\n    fi\n    case $command in");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        put_zsh_command(c);
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

/* Without a command it is graph's options that count: theirs are offered unless another command is there. */
static void put_fish_condition(const assay_option_info *o)
{
    const cli_command *c;
    bool graph = cli_takes(cli_find_command("graph"), o);
    printf(" -n '%s__fish_seen_subcommand_from", graph ? "not " : "");
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        if (cli_takes(c, o) != graph)
            printf(" %s", c->name);
    putchar('\'');
}

static void put_fish_values(const cli_command *c, const char *values)
{
    const value_set *set = find_set(values);
    const char *paths = paths_of(values);
    fputs(strcmp(paths, "file") == 0     ? " -r -F"
          : strcmp(paths, "folder") == 0 ? " -x -a '(__fish_complete_directories)'"
                                         : " -x",
          stdout);
    if (!*values || (set && !set->put))
        return;
    fputs(" -a '", stdout);
    put_values(c, values);
    putchar('\'');
}

static void put_fish_row(const cli_command *c, const assay_option_info *o)
{
    printf("complete -c assay -l %s", o->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (c)
        printf(" -n '__fish_seen_subcommand_from %s'", c->name);
    else
        put_fish_condition(o);
    if (o->value)
        put_fish_values(c, o->values);
    fputs(" -d '", stdout);
    put_fish_text(o->about);
    puts("'");
}

static void put_fish_option(const assay_option_info *o)
{
    if (!o->value || !differs_by_command(o->values)) {
        put_fish_row(NULL, o);
        return;
    }
    for (size_t i = 0; cli_command_at(i); i++)
        if (cli_takes(cli_command_at(i), o))
            put_fish_row(cli_command_at(i), o);
}

static void put_fish(void)
{
    const cli_command *c;
    assay_option_info o;
    puts("# fish completion for assay; made by `assay completion fish`");
    for (size_t i = 0; (c = cli_command_at(i)); i++) {
        printf("complete -c assay -n __fish_use_subcommand -a %s -d '", c->name);
        put_fish_text(c->about);
        puts("'");
    }
    for (size_t i = 0; (c = cli_command_at(i)); i++)
        if (c->values && strcmp(c->values, "@files") != 0) {
            printf("complete -c assay -n '__fish_seen_subcommand_from %s' -a '", c->name);
            put_values(c, c->values);
            puts("'");
        }
    for (size_t i = 0; cli_option_at(i, &o); i++)
        if (*o.commands)
            put_fish_option(&o);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*put)(void);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

static int run_completion(cli_args *args)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(args->words[0], shells[i].name) == 0) {
            shells[i].put();
            return cli_flush();
        }
    return cli_complain_text(ASSAY_ERR_USAGE, "no completion for '%.60s'. Use bash, zsh or fish.",
                             args->words[0]);
}

static const char *const completion_examples[] = {
    "assay completion bash > ~/.local/share/bash-completion/completions/assay",
    "for bash",
    "assay completion zsh > ~/.zfunc/_assay",
    "for zsh, with ~/.zfunc in fpath",
    "assay completion fish > ~/.config/fish/completions/assay.fish",
    "for fish",
    NULL,
};

const cli_command command_completion = {
    CLI_COMMAND("completion", "bash|zsh|fish", 1, 1, run_completion), .classes = "",
    .values = "bash|zsh|fish", .examples = completion_examples,
    .about = "Print a completion script for a shell."};
