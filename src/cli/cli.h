/* The command line: a client of <assay/assay.h>. Commands and options are rows; parsing, help, the man
 * page and the completions are made from them.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <assay/assay.h>
#include <stdio.h>

/* ---- rows ---- */

typedef struct cli_args cli_args;

enum { /* which commands take an option */
       ON_GRAPH = 1,
       ON_OPS = 2,
       ON_MACHINE = 1 << 29,
       ON_LENSES = 4,
       ON_DOCTOR = 8,
       ON_HELP = 16,
       ON_VERSION = 32,
       ON_COMPLETION = 64,
       ON_MODELS = 1 << 7,
       ON_VALIDATE = 1 << 8,
       ON_COMPARE = 1 << 9,
       ON_EXPORT = 1 << 10,
       ON_PROFILE = 1 << 11,
       ON_BENCH = 1 << 12,
       ON_LAYERS = 1 << 13,
       ON_MEMORY = 1 << 14,
       ON_HISTORY = 1 << 15,
       ON_TREND = 1 << 16,
       ON_CAPACITY = 1 << 17,
       ON_SERVE = 1 << 18,
       ON_PIPELINE = 1 << 20,
       ON_MAP = 1 << 21,
       ON_DEVICES = 1 << 22,
       ON_SCALE = 1 << 27,
       ON_FUSE = 1 << 28,
       ON_CHECK = 1 << 24,
       ON_REPORT = 1 << 25,
       ON_WATCH = 1 << 26,
       ON_STUDIES = ON_VALIDATE | ON_COMPARE | ON_SCALE,
       ON_RUN = ON_PROFILE | ON_BENCH | ON_LAYERS | ON_MEMORY, /* those that run a model */
       ON_STORE = ON_HISTORY | ON_TREND | ON_CAPACITY,         /* those that read the history */
       ON_PAGES = ON_GRAPH | ON_STUDIES | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_REPORT |
                  ON_STORE | ON_CHECK | ON_MACHINE, /* those that write HTML */
       ON_SAVE = ON_GRAPH | ON_RUN | ON_CHECK | ON_WATCH | ON_COMPARE | ON_PIPELINE | ON_MAP |
                 ON_FUSE | ON_MACHINE, /* those whose result can be kept in it */
       ON_ALL = 0x3fffffff,
       ON_LISTS = ON_MACHINE | ON_OPS | ON_LENSES | ON_DOCTOR | ON_MODELS | ON_DEVICES,
};

typedef struct cli_command {
    const char *name;
    const char *words;           /* what stands after it: "MODEL", "[PATTERN]"; "" for nothing */
    const char *about;           /* one line */
    const char *more;            /* a paragraph, or NULL */
    const char *const *examples; /* pairs of command and meaning, NULL at the end; or NULL */
    int min_words, max_words;
    unsigned bit;
    int (*run)(cli_args *args); /* the exit code */
} cli_command;

extern const cli_command cli_commands[];
extern const size_t cli_n_commands;
extern const assay_status cli_exit_codes[]; /* in the order of help and manual */
extern const size_t cli_n_exit_codes;
const cli_command *cli_find_command(const char *name); /* NULL when there is none */

typedef enum cli_option_id {
    OPT_LIBRARY, /* passed on to assay_options_set() under its own name */
    OPT_SHOW,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_QUIET,
    OPT_MODEL,
    OPT_COLOR,
    OPT_HELP,
    OPT_VERSION,
    OPT_LICENSES,
    OPT_MAN,
    OPT_CONFIG,
    OPT_MODELS,
    OPT_MEASURE,
    OPT_BASELINE,
    OPT_SAVE_BASELINE,
    OPT_JUNIT,
    OPT_OUTPUT_DIR,
    OPT_SAVE,
    OPT_DB,
    OPT_TAG,
    OPT_SINCE,
    OPT_QUERY,
    OPT_LIMIT,
    OPT_OF_MODEL,
    OPT_METRIC,
    OPT_ALERT,
    OPT_ALL,
    OPT_PID,
    OPT_PASSED, /* of another program, which reads it itself */
} cli_option_id;

typedef struct cli_option {
    const char *name;
    char letter; /* 0 when there is no short form */
    cli_option_id id;
    unsigned on; /* ON_ bits of the commands that take it */
    const char
        *value; /* stands for its value, NULL for a flag; of OPT_LIBRARY see cli_option_text() */
    const char *about;
} cli_option;

extern const cli_option cli_options[];
extern const size_t cli_n_options;
/* The word for the value and the sentence of a row, whoever owns them. */
void cli_option_text(const cli_option *row, const char **value, const char **about);

/* ---- what was asked for ---- */

#define CLI_MAX_WORDS   32
#define CLI_MAX_OUTPUTS 8
enum { CLI_DIR_FILES = 4, CLI_DIR_PATH_MAX = 1024 };
#define CLI_MAX_TAGS   64
#define CLI_MAX_ALERTS 32

typedef enum cli_when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } cli_when;

struct cli_args {
    const cli_command *command;
    bool command_given; /* by name, not by leaving it out */
    const char *words[CLI_MAX_WORDS];
    int n_words;
    const char *outputs[CLI_MAX_OUTPUTS];
    int n_outputs;
    const char *output_dir;                          /* --output-dir, or NULL */
    char dir_paths[CLI_DIR_FILES][CLI_DIR_PATH_MAX]; /* of the outputs that it means */
    bool show;                                       /* --show */
    const char *config;                              /* --config, or NULL */
    const char *models;                              /* --models, or NULL */
    const char *device, *batch_sizes;                /* as given, for the banner; or NULL */
    const char *hardware, *precision;                /* as given, or NULL */
    bool measure;                                    /* --measure */
    const char *baseline, *save_baseline, *junit;    /* as given, or NULL */
    bool save;                                       /* --save */
    const char *db;                                  /* --db, or NULL */
    const char *tags[CLI_MAX_TAGS];
    int n_tags;
    const char *alerts[CLI_MAX_ALERTS];
    int n_alerts;
    const char *metric;                   /* of trend; or NULL */
    bool all;                             /* --all */
    const char *since, *query, *of_model; /* of history and trend; or NULL */
    long limit;                           /* of a list; 0: not given */
    long pid;                             /* --pid; 0: not given */
    char **rest;        /* of watch: what stands behind --, ends with NULL; or NULL */
    const char *format; /* NULL: console, or by the output's suffix */
    bool quiet, help, version, licenses, man;
    bool width_given, ascii_given;
    cli_when color;
    assay_options *options; /* freed by cli_args_free() */
    int argc;
    char **argv;
};

/* ASSAY_OK, or a status with the sentence in err. */
assay_status cli_parse(int argc, char **argv, cli_args *args, assay_error *err);
void cli_args_free(cli_args *args);

/* ---- what the commands share (screen.c) ---- */

/* "assay: <sentence>" on stderr; returns the exit code. */
int cli_complain(const assay_error *err);
int cli_complain_text(assay_status code, const char *fmt, ...) ASSAY_PRINTF(2, 3);
/* Writes to stdout. A reader that has gone away is not a failure; a full disk is. */
int cli_print(const void *p, size_t n);
/* Flushes what the stdio functions wrote to stdout; the exit code. */
int cli_flush(void);
/* Tells the library's options of the screen's width and alphabet, unless the user did. */
void cli_describe_screen(cli_args *a);
unsigned cli_width(void); /* of the screen, 60 to 200 */
bool cli_color(cli_when when);
bool cli_utf8(void); /* by the locale */
/* The name nearest to `word` when it is likely a slip of it, else NULL. */
const char *cli_nearest(const char *word, const char *(*name_at)(size_t i, const void *ctx),
                        const void *ctx);
/* Words wrapped to `width`, indented by `indent` from the second line on; `column` is where the first
 * line stands already. */
void cli_wrap(const char *text, unsigned column, unsigned indent, unsigned width);
void cli_wrap_to(FILE *f, const char *text, unsigned column, unsigned indent, unsigned width);

/* "key": "text", of texts of our own. */
void cli_json_text(const char *key, const char *text);
/* 1: JSON; 0: for people; -1: no such format, complained. */
int cli_as_json(const cli_args *a);

/* ---- the commands ---- */
int cmd_graph(cli_args *args);
int cmd_ops(cli_args *args);
int cmd_machine(cli_args *args);
int cmd_lenses(cli_args *args);
int cmd_doctor(cli_args *args);
int cmd_models(cli_args *args);
int cmd_compare(cli_args *args);
int cmd_validate(cli_args *args);
int cmd_export(cli_args *args);
int cmd_pipeline(cli_args *args);
int cmd_profile(cli_args *args);
int cmd_bench(cli_args *args);
int cmd_layers(cli_args *args);
int cmd_memory(cli_args *args);
int cmd_map(cli_args *args);
int cmd_fuse(cli_args *args);
int cmd_devices(cli_args *args);
int cmd_scale(cli_args *args);
int cmd_history(cli_args *args);
int cmd_trend(cli_args *args);
int cmd_serve(cli_args *args);
int cmd_check(cli_args *args);
int cmd_report(cli_args *args);
int cmd_capacity(cli_args *args);
int cmd_watch(cli_args *args);
int cmd_help(cli_args *args);
int cmd_version(cli_args *args);
int cmd_completion(cli_args *args);
int cmd_help_of(const cli_command *command);
int cmd_man(void);

#endif
