/* Options of the library: one row per option, rows by topic, values in one struct per topic.
 *
 * A row says everything about its option: what the user types, what kind of value follows, what completion
 * offers, which commands take it, and which field of which struct keeps it. Parsing, checking, defaults, help,
 * docs/cli.md, the man page and the completions come from the rows. A new option is a row and a field.
 */
#ifndef API_OPTIONS_H
#define API_OPTIONS_H

#include <assay/assay.h>

#include "analyze/count.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/tensor_file.h"
#include "profile/profile.h"
#include "profile/scaling.h"
#include "profile/verdicts.h"
#include "zoo/zoo.h"

/* ---- rows ---- */

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_INT,    /* int64_t from min to max; one of `values` when there are any */
    OPTION_REAL,   /* double from min, or above it, to max */
    OPTION_BYTES,  /* uint64_t: "500MiB", "4GB" */
    OPTION_WORD,   /* str; one of `values` when the set is closed */
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

enum { OPTION_COLUMNS = 80 }; /* of the console when nobody says */

#define OPTION_FIELD(path) offsetof(assay_options, path)
#define OPTION_TOPIC(name, heading, table) \
    const option_topic name = {            \
        .title = (heading), .rows = (table), .n = sizeof(table) / sizeof *(table)}

extern const option_topic options_model, options_analysis, options_memory, options_hardware,
    options_machine, options_fusion, options_scaling, options_measure, options_engine,
    options_watch, options_check, options_capacity, options_diffusion, options_language,
    options_pipeline, options_export, options_view, options_caller;

/* ---- values ---- */

typedef struct job_config { /* --configs 4:fp16 */
    int64_t batch;
    str precision;
} job_config;

typedef struct job_input { /* --input NAME=FILE, or assay_options_input() */
    str name;              /* empty: the first */
    str path;
    bool in_memory;
    tensor_file given; /* the caller's own memory, instead of a file */
} job_input;

typedef struct job_setting {
    str key, value;
} job_setting;

typedef struct job_range { /* --dim NAME=A..B, of scale */
    str name;
    int decimals;
    int64_t from, to, step, count; /* in 10^-decimals; step and count 0: not given */
    const int64_t *values;         /* one by one, ascending; or NULL */
    uint32_t n_values;
} job_range;

/* Called by an analysis with what it has inferred and counted, while it is there. */
typedef struct job_beside {
    assay_status (*take)(void *ctx, infer_result *r, const counted *of, const profile *p,
                         assay_error *err);
    void *ctx;
} job_beside;

struct precision_row;

typedef struct model_options {
    VEC(infer_shape) shapes;
    VEC(infer_dim) dims;
    zoo_args set;
    str config;
    int64_t batch; /* 0: as the model has it */
    ir_dtype precision;
    const struct precision_row *target; /* what precision asks an export for; NULL: none exists */
    str precisions;                     /* as given */
    bool precision_list;                /* more than one, or one that only devices have */
    int64_t seed, weight_bits;          /* weight_bits 0: as the processor needs it */
    bool strict;
    bool dims_may_miss; /* a dimension that the model lacks is a warning */
} model_options;

typedef struct analysis_options {
    const lens *lens;
    bool all_lenses, training, patterns, advice, no_advice, live;
    double threshold;  /* 0: the usual */
    bool allocations;  /* the memory plan in full */
    VEC(str) at;       /* layers whose snapshot is asked for */
    bool as_built;     /* in the graph's own types, as an engine runs them, not the native ones */
    bool advise_later; /* an analysis on the way to more: only what advice needs is kept */
    job_beside beside; /* of the analysis on the way to more; or nothing */
} analysis_options;

typedef struct hardware_options {
    str names, goal;
    bool quick, calibrate; /* of measuring this machine */
} hardware_options;

typedef struct fusion_options {
    bool wanted, against_engine;
    int strategy; /* fuse_strategy */
} fusion_options;

typedef struct scaling_options {
    VEC(job_range) ranges;
    VEC(scaling_question) questions;
} scaling_options;

typedef struct measure_options {
    VEC(int64_t) batch_sizes;
    VEC(job_config) configs;
    VEC(job_input) inputs;
    int64_t num_runs, warmup_runs, concurrency;
    double duration, precision_target, rate; /* seconds, percent, per second */
    double interval_ms;                      /* of watch; 0: its own */
    uint64_t memory_limit;                   /* bytes; 0: what is free */
    str unit, layer_patterns, save_outputs;
} measure_options;

typedef struct run_engine_options {
    str device, name, library;
    int64_t threads, opt_level;
    bool no_spin, no_nvtx;
    int gpu_events; /* job_gpu_wanted */
    VEC(job_setting) provider_options;
} run_engine_options;

typedef struct check_options {
    VEC(verdict_limit) limits;
    VEC(const metric_row *) metrics; /* compared with a baseline; none: the usual ones */
    double tolerance;                /* percent */
} check_options;

typedef struct capacity_options {                               /* 0: not given */
    double target_rate, latency_quantile, latency_ms, headroom; /* per s, 0 to 1, ms, percent */
} capacity_options;

typedef struct pipeline_options { /* 0, and a negative guidance: the pipeline's own */
    int64_t height, width, steps, prompt_tokens, generate;
    double guidance, strength;
    ir_dtype cache_dtype;
    VEC(str) sweeps;
    str prompt, file;
    bool no_profiling;
} pipeline_options;

typedef struct export_options {
    int64_t opset; /* 0: by default */
    bool external_data, holes;
} export_options;

typedef struct view_options {
    int64_t top, depth;
    int64_t columns; /* 0: OPTION_COLUMNS */
    bool verbose, color, ascii;
    bool no_graphs, no_details; /* of HTML */
    str part;                   /* of the console: "bench", "layers", ...; empty: everything */
    str rows;                   /* of CSV */
} view_options;

struct assay_options {
    arena *arena;
    const assay_hooks *hooks; /* of calls that take none; borrowed, may be NULL */
    const char **given;       /* [assay_option_count()] value as set last, or NULL; or NULL */
    model_options model;
    analysis_options analysis;
    hardware_options hardware;
    fusion_options fusion;
    scaling_options scaling;
    measure_options measure;
    run_engine_options engine;
    check_options check;
    capacity_options capacity;
    pipeline_options pipeline;
    export_options export;
    view_options view;
    str command; /* for the result's context */
};

/* As if nothing had been set: every row's `initial`. */
assay_options api_default_options(void);

/* ASSAY_ERR_USAGE when an option of the topic was set, which has no effect on `what`. */
assay_status option_refuse_topic(const assay_options *o, const option_topic *topic,
                                 const char *what, assay_error *err);

/* ---- kinds and parts of values (option_kinds.c) ---- */

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

OPTION_SETTER(api_set_question);
/* NAME=A..B, NAME=A..B..STEP, NAME=A..B:N, NAME=A,B,C (scaling_options.c). */
assay_status api_set_range(assay_options *o, str name, str text, assay_error *err);
/* "100MiB", "1.5GB", "100G": bytes where K, M and G are binary unless a B follows; else decimal counts. */
bool api_read_amount(str text, bool bytes, uint64_t *out);
/* ASSAY_ERR_USAGE with the nearest and all names (check.c). */
assay_status api_no_such_metric(str name, assay_error *err);

#endif
