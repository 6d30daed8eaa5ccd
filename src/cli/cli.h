/* The command line: a client of the headers of <assay/>. Commands and options are rows; parsing, help, docs/cli.md,
 * the man page and the completions are made from them.
 *
 * A new command is a file (cmd_NAME.c, with its row) and its name in the list of commands.c. A new option is a
 * row: of the library (src/options/rows_TOPIC.c) when the library acts on it, else of this program (options.c).
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <assay/device.h>
#include <assay/history.h>
#include <assay/measure.h>
#include <assay/study.h>
#include <stdio.h>

typedef struct cli_args cli_args;

/* ---- commands (commands.c) ---- */

typedef struct cli_command {
    const char *name;
    const char *words;           /* what follows it: "MODEL", "[PATTERN]"; "" for nothing */
    const char *about;           /* one sentence */
    const char *more;            /* a paragraph, or NULL */
    const char *const *examples; /* pairs of command and meaning, NULL at the end; or NULL */
    int min_words, max_words;
    const char *fallback; /* the word if there is none; or NULL */
    /* What it is like, separated by spaces. Options name classes of commands (as "@model"):
     *   model   analyses models           run     runs models, always or when asked
     *   screen  draws on the console      page    writes HTML
     *   result  writes its result to files and in formats      list    prints a list, or JSON
     *   save    keeps its result in the history
     * and the program asks for:
     *   asked   runs only with --measure  measures  runs, whatever the options are
     *   advises adds recommendations by itself      rest      takes a command line behind --
     *   limits  takes --threshold METRIC:LIMIT and no bare number */
    const char *classes;
    const char *formats; /* "console|json|csv": of its result; NULL: it has none */
    const char *values; /* what completion offers for its words, as in assay_option_info; or NULL */
    int (*run)(cli_args *args); /* the exit code */
} cli_command;
/* The columns that every command has. */
#define CLI_COMMAND(name_, words_, min, max, run_) \
    .name = (name_), .words = (words_), .min_words = (min), .max_words = (max), .run = (run_)

const cli_command *cli_command_at(size_t index);       /* NULL past the end */
const cli_command *cli_find_command(const char *name); /* NULL if there is none */
bool cli_is_left_out(const char *name);                /* a command that this build does not have */
#define CLI_LEFT_OUT "%s needs the native program: this build analyses models without running them."
bool cli_command_is(const cli_command *c, const char *class_name);
const char *cli_command_name_at(size_t i, const void *ctx); /* for cli_nearest() */
/* Formats of results, for the rows. */
#define CLI_VIEW_FORMATS   "console|json|csv|md|html|summary-html"
#define CLI_REPORT_FORMATS CLI_VIEW_FORMATS "|trace|netron|modelexplorer"
#define CLI_LIST_FORMATS   "console|json"

extern const assay_status cli_exit_codes[]; /* in the order of help and manual */
extern const size_t cli_n_exit_codes;

/* ---- options (options.c): those of the program, then those of the library ---- */

/* The option at an index; false past the end. Those that only callers of the library set are of no command. */
bool cli_option_at(size_t index, assay_option_info *out);
/* By its name, of n bytes; false when no command has it. */
bool cli_find_option(const char *name, size_t n, assay_option_info *out);
bool cli_takes(const cli_command *c, const assay_option_info *o);
/* What stands for the value, as the command has it (formats differ); NULL for a flag. c may be NULL. */
const char *cli_option_value(const cli_command *c, const assay_option_info *o);
/* Its sentences: what it does, its default, whether it may be repeated. */
void cli_option_text(const assay_option_info *o, char *out, size_t cap);
assay_status cli_option_set(cli_args *a, const assay_option_info *o, const char *value,
                            assay_error *err);
/* Whether the command line has it; the value as it was given last ("true" for a flag), or NULL. */
const char *cli_given(const cli_args *a, const char *name);
/* Whether a word is among words that are separated by c. */
bool cli_has_word(const char *list, char separator, const char *word, size_t n);

/* Topics of help, in its order; NULL past the end. */
const char *cli_topic_at(size_t index);

/* ---- what was requested (args.c) ---- */

enum {
    CLI_MAX_WORDS = 64,
    CLI_MAX_OUTPUTS = 8,
    CLI_DIR_FILES = 4,
    CLI_DIR_PATH_MAX = 1024,
    CLI_OWN_OPTIONS = 64
};

typedef struct cli_words { /* of the command line, or of an option that may be repeated */
    const char *items[CLI_MAX_WORDS];
    int n;
} cli_words;

typedef enum cli_when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } cli_when;

typedef struct cli_model_args {
    cli_words names;    /* --model */
    const char *list;   /* --models */
    const char *config; /* --config; or NULL */
    char *split;        /* copy of the list; its parts are words */
} cli_model_args;

typedef struct cli_output_args {
    cli_words paths;
    const char *dir;
    char dir_paths[CLI_DIR_FILES][CLI_DIR_PATH_MAX]; /* of the paths that it means */
    const char *format;                              /* NULL: console, or by the suffix of a path */
    bool quiet;
    int color; /* cli_when */
} cli_output_args;

typedef struct cli_check_args {
    const char *baseline, *save_baseline, *junit;
} cli_check_args;

typedef struct cli_history_args {
    bool save, all, skip_bad, keep_tagged;
    const char *db, *since, *query, *metric, *keep, *by, *machine;
    cli_words tags, alerts;
    long limit; /* 0: not given */
} cli_history_args;

typedef struct cli_sweep_args {
    const char *on, *tasks, *image, *secret, *manifest;
    long throttle, time_limit; /* minutes. 0: not given */
    bool follow;
} cli_sweep_args;

struct cli_args {
    const cli_command *command;
    bool command_given;   /* by name, not by leaving it out */
    const char *left_out; /* the command, if this build does not have it */
    bool fell_back;       /* the model is the command's fallback */
    bool any_option;      /* the line has options */
    const char *words[CLI_MAX_WORDS];
    int n_words;
    char **rest; /* what follows --, of a command that takes it; ends with NULL; or NULL */
    const char *given[CLI_OWN_OPTIONS]; /* of the program's own options; see cli_given() */
    cli_model_args model;
    cli_output_args output;
    cli_check_args check;
    cli_history_args history;
    cli_sweep_args sweep;
    bool measure;      /* --measure */
    bool machine_show; /* --show */
    bool sandbox;      /* --sandbox */
    bool limits;
    cli_words raised; /* --raise-limit */
    long pid;         /* --pid; 0: not given */
    bool help, version, licenses, sbom, man, docs;
    assay_options *options; /* freed by cli_args_free() */
    int argc;
    char **argv;
};

/* ASSAY_OK, or a status with the sentence in err. */
assay_status cli_parse(int argc, char **argv, cli_args *args, assay_error *err);
void cli_args_free(cli_args *args);
/* Puts a sentence into err; ASSAY_ERR_USAGE. */
assay_status cli_refuse(assay_error *err, const char *fmt, ...) ASSAY_PRINTF(2, 3);

/* ---- options that would have no effect (effects.c) ---- */

/* After parsing: an option whose effect depends on another, or on a format that is not written. */
assay_status cli_check_effects(const cli_args *a, assay_error *err);
/* Complains about the first given option that is among `names` (separated by spaces); an exit code. */
int cli_refuse_options(const cli_args *a, const char *names, const char *why);
/* The same for options that need `option` ("measure"), and for those of topics (separated by |). */
int cli_refuse_needing(const cli_args *a, const char *option, const char *why);
int cli_refuse_topics(const cli_args *a, const char *topics, const char *why);
/* Complains about the first given option that is not among `names`. */
int cli_allow_options(const cli_args *a, const char *names, const char *who);

/* ---- what the commands share (screen.c) ---- */

/* "assay: <sentence>" on stderr; returns the exit code. */
int cli_complain(const assay_error *err);
int cli_complain_text(assay_status code, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* Writes to stdout. A closed pipe is not a failure; a full disk is. */
int cli_print(const void *p, size_t n);
/* Flushes what the stdio functions wrote to stdout; the exit code. */
int cli_flush(void);
/* Tells the library's options of the screen's width and alphabet, unless the user did. */
void cli_describe_screen(cli_args *a);
unsigned cli_width(void);                /* of the screen, 60 to 200 */
unsigned cli_columns(const cli_args *a); /* --columns, else the screen's */
bool cli_ascii(const cli_args *a);       /* --ascii, else by the locale */
bool cli_color(int when);                /* cli_when */
bool cli_utf8(void);                     /* by the locale */
/* Whether a built-in model has this name. */
bool cli_is_builtin(const char *word);
/* The name nearest to `word` when it is likely a slip of it, else NULL. */
const char *cli_nearest(const char *word, const char *(*name_at)(size_t i, const void *ctx),
                        const void *ctx);
/* Complains that a list has nothing for a pattern, with the nearest name; the exit code. */
int cli_no_match(const char *what, const char *pattern,
                 const char *(*name_at)(size_t i, const void *ctx), const void *ctx);
/* Words wrapped to `width`, indented by `indent` from the second line on; `column` is where the first
 * line stands already. */
void cli_wrap(const char *text, unsigned column, unsigned indent, unsigned width);
void cli_wrap_to(FILE *f, const char *text, unsigned column, unsigned indent, unsigned width);

/* "key": "text", of texts of our own. */
void cli_json_text(const char *key, const char *text);
bool cli_as_json(const cli_args *a); /* of lists */

/* ---- help (cmd_help.c, help_man.c, help_docs.c, help_json.c) ---- */
int cli_help_of(const cli_command *command);
int cli_help(void);
int cli_help_man(void);
int cli_help_docs(void);
int cli_help_json(void);

#endif
