/* Options of the library: one row per option, rows by topic; their values are in one struct per
 * topic (options.h).
 *
 * A row says everything about its option: what the user types, what kind of value follows, what completion
 * offers, which commands take it, and which field of which struct keeps it. Parsing, checking, defaults, help,
 * docs/cli.md, the man page and the completions come from the rows. A new option is a row and a field.
 */
#ifndef OPTIONS_ROWS_H
#define OPTIONS_ROWS_H

#include <assay/assay.h>

#include "options/options.h"

typedef enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_INT,   /* int64_t from min to max; one of `values` when there are any */
    OPTION_REAL,  /* double from min, or above it, to max */
    OPTION_TIME,  /* double of seconds: "4s", "500ms", or a bare number; limits as of OPTION_REAL */
    OPTION_BYTES, /* uint64_t: "500MiB", "4GB" */
    OPTION_WORD,  /* str; one of `values` when the set is closed */
    OPTION_CHOICE, /* int: the place of the word in `values` */
    OPTION_WORDS,  /* VEC(str): one more each time, at most `max` */
    OPTION_OWN     /* `set` reads it */
} option_kind;

typedef struct option_row option_row;

#define OPTION_SETTER(name) \
    assay_status name(assay_options *o, const option_row *row, str value, assay_error *err)

struct option_row {
    const char *name;
    char letter; /* short form, or 0 */
    option_kind kind;
    bool repeatable;
    bool closed;          /* OPTION_WORD: nothing but `values` */
    bool above;           /* OPTION_REAL: min itself is refused */
    const char *value;    /* stands for the value in help; NULL: `values`, or nothing for a flag */
    const char *values;   /* offered by completion: "a|b|c" or a set such as "@files"; or NULL */
    const char *about;    /* imperative, ends with a full stop */
    const char *commands; /* see assay_option_info.commands; NULL: of library calls alone */
    const char *formats;  /* output formats that it shapes; NULL: the result itself */
    const char *needs;    /* "a|b": has no effect unless one of these is given too; or NULL */
    size_t at;            /* of its field in assay_options */
    int64_t min, max;
    double initial; /* of numbers and choices: the value when it is not given */
    OPTION_SETTER((*set));
};

typedef struct option_topic {
    const char *title;
    const option_row *rows;
    uint32_t n;
} option_topic;

#define OPTION_FIELD(path) offsetof(assay_options, path)
/* The columns that every row has: an option kept in a field, and one that a function reads. */
#define OPTION(name_, kind_, field, commands_) \
    .name = (name_), .kind = OPTION_##kind_, .at = OPTION_FIELD(field), .commands = (commands_)
#define OPTION_READ(name_, set_, commands_) \
    .name = (name_), .kind = OPTION_OWN, .set = (set_), .commands = (commands_)
#define OPTION_TOPIC(name, heading, table) \
    const option_topic name = {            \
        .title = (heading), .rows = (table), .n = sizeof(table) / sizeof *(table)}

extern const option_topic options_model, options_analysis, options_memory, options_hardware,
    options_machine, options_fusion, options_scaling, options_measure, options_engine,
    options_watch, options_check, options_capacity, options_diffusion, options_language,
    options_pipeline, options_load, options_export, options_sweep, options_view, options_caller;

/* ---- the table (table.c) ---- */

size_t options_count(void);
/* NULL past the last; in the order of help. */
const option_row *option_at(size_t index, const option_topic **topic);

/* The caller's options, or `none` filled with the defaults when there are none. */
const assay_options *options_or_default(const assay_options *given, assay_options *none);
/* As if nothing had been set: every row's `initial`. */
assay_options options_default(void);
/* ASSAY_ERR_USAGE: there is no such option, or its value is refused. */
assay_status options_set(assay_options *o, const char *name, const char *value, assay_error *err);
/* The value as it was given; NULL: it was not. */
const char *options_given(const assay_options *o, const char *name);

/* ASSAY_ERR_USAGE when an option of the topic was set, which has no effect on `what`. */
assay_status option_refuse_topic(const assay_options *o, const option_topic *topic,
                                 const char *what, assay_error *err);

/* ---- kinds and parts of values (kinds.c) ---- */

/* Digits alone: what strtoll would forgive ("+3", " 3", "0x3") is refused. */
bool option_whole_number(str s, int64_t max, int64_t *out);
/* Digits with at most one dot, in every locale. */
bool option_decimal(str s, double *out);
/* The word at a place of "a|b|c"; empty past the end. */
str option_word_at(const char *values, int at);
/* The place of a word among "a|b|c"; -1 when it is none of them. */
int option_choice(const char *values, str word);
/* "NAME must be EXPECTED, got 'VALUE'" */
assay_status option_refuse(const option_row *row, str value, assay_error *err, const char *expected,
                           ...) __attribute__((format(printf, 4, 5)));
assay_status option_set_value(assay_options *o, const option_row *row, const char *value,
                              assay_error *err);

/* ASSAY_ERR_USAGE with the nearest and all names (rows_check.c). */
assay_status option_no_such_metric(str name, assay_error *err);

#endif
