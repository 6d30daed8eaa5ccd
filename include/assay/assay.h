/* assay: what a model costs. The one public header of libassay.
 *
 * A model is loaded from a path, from bytes or by name; an analysis of it is a profile; a profile is
 * walked through the accessors below or written as a report. Objects are opaque and are freed by the
 * function named beside the one that made them. Nothing here prints, exits or keeps global state:
 * separate models may be used from separate threads at the same time. A single model must not be
 * used by two threads at once.
 *
 * Every fallible function returns an assay_status and fills `err` (which may be NULL) with a whole
 * sentence. The status values are the exit codes of the command line.
 *
 * Stability: functions here keep their meaning within a major version; structs that callers allocate
 * begin with `size`, which the caller sets to sizeof, so that they may grow.
 */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_API               __attribute__((visibility("default")))
#define ASSAY_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ASSAY_API
#define ASSAY_PRINTF(fmt, args)
#endif

#define ASSAY_VERSION_MAJOR 0
#define ASSAY_VERSION_MINOR 1
#define ASSAY_VERSION_PATCH 0

/* ---- statuses and errors ------------------------------------------------------------------- */

typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_ERR_SYSTEM = 1,       /* a file or memory: not the model's fault */
    ASSAY_ERR_USAGE = 2,        /* the caller's arguments */
    ASSAY_ERR_MALFORMED = 3,    /* the model or result file is not what it should be */
    ASSAY_ERR_UNSUPPORTED = 4,  /* valid but unsupported, contradictory shapes, or strict */
    ASSAY_ERR_ENGINE = 5,       /* the engine failed or is missing */
    ASSAY_ERR_THRESHOLD = 6,    /* a threshold was missed or a regression found */
    ASSAY_ERR_INCONCLUSIVE = 7, /* noise hides the answer */
    ASSAY_ERR_INTERRUPTED = 130 /* stopped by the user; the partial result was kept */
} assay_status;

#define ASSAY_NO_OFFSET UINT64_MAX

typedef struct assay_error {
    assay_status code;
    uint64_t offset;   /* byte offset in the file, or ASSAY_NO_OFFSET */
    char node[128];    /* name of the node or value concerned, or "" */
    char message[768]; /* a whole sentence that says what is wrong and what to do */
    int os_error; /* errno behind it: ENOMEM when memory ran out, ENOSPC when a disk did; 0: none */
} assay_error;

/* "0.1.0". */
ASSAY_API const char *assay_version(void);
/* The exit code's meaning in a few words: "malformed model or result". Never NULL. */
ASSAY_API const char *assay_status_text(assay_status status);
/* Frees memory that a function below says is the caller's. NULL is fine. */
ASSAY_API void assay_free(void *p);

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct assay_model assay_model;

/* Opens a model by path (an ONNX file, or a .json that describes an architecture) or by built-in name.
 * Weights stay in the file and are not read. The file is kept open until assay_model_free(). A
 * built-in architecture is built when it is analysed, as the options "set", "input-shape" and "batch"
 * say. */
ASSAY_API assay_status assay_model_open(const char *model, assay_model **out, assay_error *err);
/* The same for a model held in memory. Borrows `bytes` until assay_model_free(). `name` is what
 * reports call it; `folder` is where its external data lies, or NULL for none. */
ASSAY_API assay_status assay_model_from_bytes(const void *bytes, size_t n, const char *name,
                                              const char *folder, assay_model **out,
                                              assay_error *err);
ASSAY_API void assay_model_free(assay_model *model); /* NULL is fine */

/* The built-in architectures. */
#define ASSAY_MODEL_INPUTS 4
typedef struct assay_model_input {
    char name[32];
    int rank;
    int64_t dims[8];
} assay_model_input;

typedef struct assay_model_info {
    size_t size;                                /* set to sizeof by the caller */
    const char *name, *aliases, *family, *task; /* aliases: space separated, or "" */
    const char *defaults; /* what makes it this one of its family: "block=basic layers=2,2,2,2" */
    /* filled by assay_model_cost() alone: */
    uint64_t parameters, flops, macs;
    size_t n_inputs;
    assay_model_input inputs[ASSAY_MODEL_INPUTS];
} assay_model_info;

ASSAY_API bool assay_model_at(size_t index, assay_model_info *out); /* false past the end */
/* The same with what the architecture costs by its defaults: built and counted by this call, in about a
 * millisecond. */
ASSAY_API assay_status assay_model_cost(size_t index, assay_model_info *out, assay_error *err);

/* ---- options --------------------------------------------------------------------------------- */

/* What an analysis or a report may be told, by the names of the command line without dashes:
 * "input-shape" ("[NAME:]1,3,224,224", repeatable), "dim" ("NAME=N", repeatable), "batch", "lens",
 * "set" ("KEY=VALUE", repeatable), "precision", "training", "verbose", "threshold", "top", "depth",
 * "columns", "color", ... assay_option_at() lists them all. */
typedef struct assay_options assay_options;

ASSAY_API assay_options *assay_options_new(void); /* NULL when memory is out */
ASSAY_API void assay_options_free(assay_options *options);
/* Copies value. A flag takes "true", "false" or NULL (true). ASSAY_ERR_USAGE with a sentence when the
 * name is unknown or the value is not of its kind. */
ASSAY_API assay_status assay_options_set(assay_options *options, const char *name,
                                         const char *value, assay_error *err);

/* The value that was set last, as text ("true" for a flag); NULL when the option was not set. Lives as long as
 * the options. */
ASSAY_API const char *assay_options_get(const assay_options *options, const char *name);

/* An input tensor that the caller holds: what assay_measure() runs instead of data that is made up, with the
 * shape that analyses take. `data` is row by row, little-endian, and borrowed until the options are freed;
 * the rest is copied. Where the model takes another type, numbers are converted when they fit; where it is run
 * at another batch size ("batch-sizes", "configs"), samples are left out or repeated in turn. */
typedef struct assay_input {
    size_t size;       /* set to sizeof by the caller */
    const char *name;  /* NULL or "": the first input that has none yet */
    const char *dtype; /* numpy's name */
    int rank;
    const int64_t *dims;
    const void *data;
    size_t n_bytes;
} assay_input;
ASSAY_API assay_status assay_options_input(assay_options *options, const assay_input *input,
                                           assay_error *err);

/* Everything about an option, as one row of one table. Texts are static. */
typedef struct assay_option_info {
    size_t size; /* set to sizeof by the caller */
    const char *name;
    const char *value; /* what stands for its value ("N", "NAME=N", "a|b"), or NULL for a flag */
    const char *about; /* one sentence */
    bool repeatable;
    char letter;       /* the command line's short form, or 0 */
    const char *topic; /* heading of help: "Model" */
    /* The commands that take it, separated by spaces; "" when only callers of the library set it. A word is a
     * command ("bench") or a class of commands: "@model" (analyse a model), "@run" (run one, always or with
     * --measure), "@screen" (draw on the console), "@page" (write HTML). */
    const char *commands;
    /* What completion offers: words ("fp32|fp16"), a set ("@files", "@folders", "@devices", "@conventions",
     * "@metrics"), or "". */
    const char *values;
    const char *formats; /* output formats that it shapes ("csv"); "" when it is about the result */
    /* Options without one of which it has no effect, where the command has them ("measure|baseline"), or on one
     * command alone ("memory:measure"); or "". */
    const char *needs;
    double min, max;  /* of a number; both 0 when there is no range */
    char initial[24]; /* the default of a number or a choice, or "" */
} assay_option_info;

ASSAY_API size_t assay_option_count(void);
ASSAY_API bool assay_option_at(size_t index, assay_option_info *out); /* false past the end */

/* ---- analysis -------------------------------------------------------------------------------- */

typedef struct assay_result assay_result;

/* The static profile of a model. options may be NULL. The profile is independent of the model and
 * may outlive it. With the option "strict", anything assumed or unknown is ASSAY_ERR_UNSUPPORTED, and
 * *out is still set, so that it can be shown. */
ASSAY_API assay_status assay_analyze(assay_model *model, const assay_options *options,
                                     assay_result **out, assay_error *err);
ASSAY_API void assay_result_free(assay_result *profile); /* NULL is fine */

typedef struct assay_totals {
    size_t size; /* set to sizeof by the caller */
    uint64_t parameters, trainable_parameters, buffers;
    uint64_t flops, macs;
    uint64_t memory_bytes; /* sum over layers of bytes read and written */
    uint64_t operators;
    uint64_t weights_bytes, file_size_bytes;
    uint64_t activations_peak_bytes, peak_bytes, lower_bound_bytes;
    uint64_t nodes_exact, nodes_assumed, nodes_unknown;
    double arithmetic_intensity; /* FLOPs per byte */
    const char *work_band; /* "light", "medium", "heavy"; NULL: FLOPs follow another convention */
} assay_totals;

typedef struct assay_layer {
    size_t size;      /* set to sizeof by the caller */
    const char *name; /* strings live as long as the profile */
    const char *op, *type, *module;
    const char *bottleneck; /* "compute-bound" or "memory-bound" */
    const char *band;       /* "strong-compute", "compute", "balanced", "memory" */
    const char *certainty;  /* "exact", "assumed", "unknown" */
    uint64_t times;         /* runs per run of the model */
    uint64_t parameters, flops, macs;
    uint64_t memory, read_bytes, weight_bytes, written_bytes;
    double arithmetic_intensity;
    size_t n_inputs, n_outputs;
    double time_ms, time_std_ms; /* of one run of the model; negative: not measured */
    double
        percent_of_roof; /* of the machine's ceilings; negative: not measured, or they are not known */
} assay_layer;

typedef struct assay_tensor {
    size_t size; /* set to sizeof by the caller */
    const char *name;
    const char *dtype;   /* numpy's name, "" when unknown */
    int rank;            /* -1 when unknown */
    const int64_t *dims; /* -1 when unknown; lives as long as the profile */
} assay_tensor;

typedef struct assay_warning {
    size_t size; /* set to sizeof by the caller */
    const char *code, *node, *text, *advice;
} assay_warning;

typedef struct assay_operation {
    size_t size; /* set to sizeof by the caller */
    const char *type;
    uint64_t count, flops, macs, memory;
    double percent; /* of all FLOPs */
} assay_operation;

ASSAY_API const char *assay_profile_model(const assay_result *profile);
ASSAY_API void assay_profile_totals(const assay_result *profile, assay_totals *out);
/* The walks return false past the end. */
/* Inputs of the model, with the shapes they were analysed with. */
ASSAY_API bool assay_profile_input(const assay_result *profile, size_t index, assay_tensor *out);
/* Which dimension of the inputs is the batch, once somebody needed to know: a measurement, a map, or an analysis
 * at another batch size. Without one a run is one sample. */
typedef struct assay_batch {
    size_t size; /* set to sizeof by the caller */
    bool present;
    const char *certainty; /* "built", "named", "tried", "likely", "assumed" */
    const char *why;       /* a clause: "dimension 0 of 'x' is called 'batch'" */
} assay_batch;
/* False when nobody asked. */
ASSAY_API bool assay_profile_batch(const assay_result *profile, assay_batch *out);
/* Of an input; -1: it has none, or nobody asked. */
ASSAY_API int assay_profile_batch_axis(const assay_result *profile, size_t input);
ASSAY_API size_t assay_profile_layer_count(const assay_result *profile);
ASSAY_API bool assay_profile_layer(const assay_result *profile, size_t index, assay_layer *out);
/* Of a layer: an attribute that is not at the operator's default, or a small constant input that is no weight
 * ("input[1]"), by name; false past the end. */
typedef struct assay_attribute {
    size_t size; /* set to sizeof by the caller */
    const char *name;
    char value[240]; /* as JSON, cut when it is longer: "[2,2]" */
} assay_attribute;
ASSAY_API bool assay_profile_layer_attribute(const assay_result *profile, size_t layer,
                                             size_t index, assay_attribute *out);
ASSAY_API bool assay_profile_layer_input(const assay_result *profile, size_t layer, size_t index,
                                         assay_tensor *out);
ASSAY_API bool assay_profile_layer_output(const assay_result *profile, size_t layer, size_t index,
                                          assay_tensor *out);
ASSAY_API size_t assay_profile_operation_count(const assay_result *profile);
ASSAY_API bool assay_profile_operation(const assay_result *profile, size_t index,
                                       assay_operation *out);
ASSAY_API size_t assay_profile_warning_count(const assay_result *profile);
ASSAY_API bool assay_profile_warning(const assay_result *profile, size_t index, assay_warning *out);

/* The memory plan: activations alive while each layer runs ("step" is the place of a layer in the order of
 * execution, from 0), who makes the peak, and with the option "allocations" what is done in which order. False: the
 * profile has none. */
typedef struct assay_memory_plan {
    size_t size; /* set to sizeof by the caller */
    uint64_t weights_bytes, activations_peak_bytes;
    uint64_t peak_bytes;        /* their sum */
    uint64_t lower_bound_bytes; /* of activations: no plan can do with less */
    uint64_t planned_bytes;     /* of the block that holds all slots */
    double fragmentation;       /* share of the block that is idle when the most is alive */
    const char *peak_node;      /* strings live as long as the profile */
    size_t n_moments, n_witnesses;
    size_t n_slots;               /* 0 without "allocations", "at" or "verbose" */
    size_t n_events, n_snapshots; /* 0 without "allocations" or "at" */
} assay_memory_plan;
ASSAY_API bool assay_profile_memory_plan(const assay_result *profile, assay_memory_plan *out);

/* Alive while the index-th layer runs. This walk and those below return false past the end. */
typedef struct assay_memory_moment {
    size_t size; /* set to sizeof by the caller */
    const char *node;
    uint64_t live_bytes;
} assay_memory_moment;
ASSAY_API bool assay_profile_memory_moment(const assay_result *profile, size_t index,
                                           assay_memory_moment *out);

/* A buffer that is alive, by the value that it was made for. */
typedef struct assay_live_value {
    size_t size; /* set to sizeof by the caller */
    const char *value, *producer;
    uint64_t bytes;
} assay_live_value;
/* The largest at the peak, largest first: 16 at most. */
ASSAY_API bool assay_profile_memory_witness(const assay_result *profile, size_t index,
                                            assay_live_value *out);

/* Where a buffer lies in the planned block, and how long it is needed. */
typedef struct assay_memory_slot {
    size_t size; /* set to sizeof by the caller */
    const char *value;
    uint64_t offset, bytes;
    size_t first_step, last_step;
} assay_memory_slot;
ASSAY_API bool assay_profile_memory_slot(const assay_result *profile, size_t index,
                                         assay_memory_slot *out);

/* In order. Of one step: what is allocated, then what shares a buffer, then what is freed when the layer has run.
 * Graph outputs are allocated at the first step and freed after the last. */
typedef struct assay_memory_event {
    size_t size;              /* set to sizeof by the caller */
    const char *kind;         /* "allocate", "reuse" (in place), "alias" (a view), "free" */
    const char *node, *value; /* node: the layer of the step */
    const char *of;           /* of reuse and alias: whose buffer the value takes; else "" */
    size_t step, slot;
    uint64_t bytes, offset;
    uint64_t live_bytes; /* after it */
} assay_memory_event;
ASSAY_API bool assay_profile_memory_event(const assay_result *profile, size_t index,
                                          assay_memory_event *out);

/* What is alive while a layer runs: the first, the last, at the peak, at up to eight other maxima, and of the
 * layers that the option "at" names; by step. */
typedef struct assay_memory_snapshot {
    size_t size;      /* set to sizeof by the caller */
    const char *kind; /* "start", "peak", "maximum", "asked", "end" */
    const char *node;
    size_t step;
    uint64_t live_bytes;
    size_t n_values;          /* largest first */
    uint64_t values_left_out; /* smaller ones */
} assay_memory_snapshot;
ASSAY_API bool assay_profile_memory_snapshot(const assay_result *profile, size_t index,
                                             assay_memory_snapshot *out);
ASSAY_API bool assay_profile_snapshot_value(const assay_result *profile, size_t snapshot,
                                            size_t index, assay_live_value *out);

/* What would make the model faster or smaller, with this model's numbers; largest effect first. Made by
 * assay_analyze() with the option "advice", by assay_measure() and assay_map() with what they found; not with
 * "no-advice". */
typedef struct assay_recommendation {
    size_t size;    /* set to sizeof by the caller */
    const char *id; /* stable: "fusion", "batch-size" */
    const char *title, *why, *expected;
} assay_recommendation;
ASSAY_API size_t assay_profile_recommendation_count(const assay_result *profile);
ASSAY_API bool assay_profile_recommendation(const assay_result *profile, size_t index,
                                            assay_recommendation *out);

/* ---- results that were saved ---------------------------------------------------------------- */

/* Reads a result of any kind that was written as "json". `kind` is the word that it must be of (assay_result_kind()),
 * or NULL. What the file does not have is unknown; keys of a newer minor version are skipped. ASSAY_ERR_MALFORMED with the path of
 * the key and the byte offset, or when the kind is another; ASSAY_ERR_UNSUPPORTED for a later major version. */
ASSAY_API assay_status assay_result_read(const char *path, const char *kind, assay_result **out,
                                         assay_error *err);
/* The same for text held in memory, which is copied; `name` is what sentences call it. */
ASSAY_API assay_status assay_result_from_json(const void *json, size_t n, const char *name,
                                              const char *kind, assay_result **out,
                                              assay_error *err);
/* "profile", "machine", "runs", "models", "trend", "capacity", "validation", "check", "scaling", "language",
 * "pipeline", "pipelines" or "comparison". */
ASSAY_API const char *assay_result_kind(const assay_result *result);

/* Writes a result as text: "console", "json", "csv", "md", "html" or "summary-html"; a profile also as "trace", a check
 * as "junit" and "github" (annotations), pipelines as "generation-config". options may be NULL: "top", "depth",
 * "columns", "color", "verbose" shape the console. The memory is the caller's (assay_free()). */
ASSAY_API assay_status assay_result_write(const assay_result *result, const char *format,
                                          const assay_options *options, char **text, size_t *n,
                                          assay_error *err);
/* Up to 64 results of any kinds in one text: "html", or "console", "md" and "summary-html" one after the other. */
ASSAY_API assay_status assay_results_write(const assay_result *const *results, size_t n_results,
                                           const char *format, const assay_options *options,
                                           char **text, size_t *n, assay_error *err);

/* The type of a value. */
typedef enum assay_type {
    ASSAY_NONE, /* absent or unknown */
    ASSAY_BOOL,
    ASSAY_WHOLE,   /* from 0 */
    ASSAY_INTEGER, /* below 0 */
    ASSAY_REAL,
    ASSAY_TEXT,
    ASSAY_LIST,
    ASSAY_OBJECT
} assay_type;

typedef struct assay_value {
    size_t size; /* set to sizeof by the caller */
    assay_type type;
    bool truth;                             /* of BOOL */
    uint64_t whole;                         /* of WHOLE */
    int64_t integer;                        /* of INTEGER */
    double real;                            /* of every number; NaN: it is none */
    const char *text;                       /* of TEXT; else "". Texts live as long as the result */
    size_t count;                           /* of LIST and OBJECT: items, members */
    const char *key, *unit, *label, *about; /* "p95", "ms", "p95 latency", a sentence; or "" */
} assay_value;

/* The value at a path of the keys of docs/json.md: "total_macs", "layers.3.name", "batch_profiling.4.timing.p95_ms".
 * "" is the result itself. Items of a list are numbered from 0. ASSAY_ERR_USAGE: there is no such key. A key that the
 * result does not hold is ASSAY_OK and ASSAY_NONE. */
ASSAY_API assay_status assay_result_get(const assay_result *result, const char *path,
                                        assay_value *out, assay_error *err);
/* The index-th item of the list, or member of the object, at a path; false past the end. */
ASSAY_API bool assay_result_item(const assay_result *result, const char *path, size_t index,
                                 assay_value *out);
/* Items of the list or members of the object at a path; 0 when there is none. */
ASSAY_API size_t assay_result_count(const assay_result *result, const char *path);
/* The number at a path; NaN when there is none. */
ASSAY_API double assay_result_number(const assay_result *result, const char *path);
/* The text at a path; "" when there is none. */
ASSAY_API const char *assay_result_text(const assay_result *result, const char *path);

typedef struct assay_document {
    size_t size;      /* set to sizeof by the caller */
    char schema[64];  /* "assay.profile"; "" when the document does not say */
    const char *what; /* "a result", "a comparison", ...; "" when the schema is not one of ours */
    int64_t version;  /* major */
} assay_document;
/* What a JSON file says it is. ASSAY_ERR_MALFORMED when it is no JSON object. */
ASSAY_API assay_status assay_document_of(const char *path, assay_document *out, assay_error *err);

/* ---- export ---------------------------------------------------------------------------------- */

typedef struct assay_export_info {
    size_t size;                      /* set to sizeof by the caller */
    uint64_t model_bytes, data_bytes; /* of FILE and FILE.data; 0 when there is no second file */
    uint64_t tensors, random_tensors; /* weights and tables; those of them that were made up */
} assay_export_info;

/* Writes the model as an ONNX file that appears whole or not at all. Weights are those of the file that
 * the model came from; what it does not have, and all weights of a built-in architecture, are random and
 * depend on the option "seed" and their names alone. Options: "opset" (a built-in architecture: 17 by
 * default, newer operators are written as what that opset has; a file: its own, and another only where
 * its operators allow, which changes `model`), "seed", "external-data", "holes"; "set", "input-shape"
 * and "batch" for built-in architectures. options and out may be NULL. */
ASSAY_API assay_status assay_export(assay_model *model, const char *path,
                                    const assay_options *options, assay_export_info *out,
                                    assay_error *err);

/* ---- measuring ------------------------------------------------------------------------------- */

#define ASSAY_BATCH_SIZES "1,2,4,8,16"

enum {
    ASSAY_MEASURE_SWEEP = 1,  /* ASSAY_BATCH_SIZES unless the options say which */
    ASSAY_MEASURE_LAYERS = 2, /* time of every layer, from profiled runs of their own */
    ASSAY_MEASURE_PLAN = 4,   /* the memory plan against a run without optimisations */
};

/* One configuration as measured. Times in milliseconds, sizes in bytes, UINT64_MAX and negative numbers:
 * not told by the system. Strings live as long as the profile. */
typedef struct assay_config {
    size_t size; /* set to sizeof by the caller */
    uint64_t batch;
    const char *precision;
    const char *error; /* why it did not run, a sentence; "" when it did */
    bool partial;      /* interrupted on the way */
    uint64_t runs, warmup_runs;
    bool steady; /* timings were, when the warm-up ended */
    double mean_ms, std_ms, min_ms, max_ms, median_ms, p50_ms, p90_ms, p95_ms, p99_ms;
    double ci95_low_ms,
        ci95_high_ms; /* of the mean, autocorrelation respected; NaN: too few or scattered runs */
    double effective_runs;
    uint64_t p99_runs_needed;  /* for the slowest run to bound P99 with 99 % confidence */
    double samples_per_second; /* throughput; negative: of an empty batch there is none */
    double load_ms, session_ms, first_run_ms; /* cold start */
    uint64_t resident_before, resident_after, resident_peak, resident_average;
    uint64_t resident_before_session;
    uint64_t activation_bytes; /* peak minus before */
    uint64_t planned_activation_bytes;
    double fragmentation;
    double cpu_percent; /* NaN: the runs were too short to tell; negative: not measured */
    double gflops_per_s, gbytes_per_s;
    const double *samples_ms;
    size_t n_samples, n_outliers;
    /* Outputs against those of the model as it is stored, on the same inputs: max, mean and Euclidean
     * relative distance (negative: all zeros), cosine (NaN: all zeros). Only when has_output_error. */
    bool has_output_error;
    double error_max_abs, error_mean_abs, error_relative, error_cosine;
    /* Of a GPU that NVML tells of, while the runs went on. */
    double gpu_percent, gpu_power_w, gpu_temperature_c;
    uint64_t gpu_memory_peak;
    uint64_t file_bytes; /* of the model that was run, on disk with its weights; 0: not known */
    double percent_of_peak,
        percent_of_bandwidth; /* of this machine's measured ceilings; negative: not known */
    const double *warmup_ms;  /* durations of the warm-up's runs, in order */
    size_t n_warmup_ms;       /* warmup_runs; of a file fewer above 100,000, or 0: not told */
    uint64_t steady_after;    /* warm-up runs until timings were steady and stayed so; 0: never */
    const char *unit;         /* "images", "tokens", "requests", "samples" */
    double units_per_second;  /* throughput in it; negative: there is none */
    const char *code; /* of the failure: "memory", "system", "engine", ...; "" when it ran */
    double preprocess_ms, postprocess_ms; /* of image inputs; negative: there are none */
    /* While the runs went on. */
    double wall_s, cpu_s;
    uint64_t threads; /* that could work; 0: the engine chose */
    uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
    uint64_t read_bytes, written_bytes; /* of the disk */
    double steal_percent, energy_j, frequency_mhz, frequency_min_mhz;
    uint64_t anonymous_peak, file_backed_peak; /* above what was there before the session */
    uint64_t arena_in_use, arena_requested, arena_held, arena_peak; /* of the engine */
    size_t n_curve; /* looks at resident memory: assay_profile_memory_sample() */
    /* Planned memory of a training step of this batch size with AdamW in float32, by the arithmetic of the option
     * "training": 16 bytes per trainable parameter, and the activations kept for the backward pass. 0: not known. */
    uint64_t planned_training_bytes, planned_training_activation_bytes;
    /* "real time", "near real time", "slow"; "small GPU", "medium GPU", "high-end GPU"; NULL: unknown. */
    const char *speed_band, *memory_band;
} assay_config;

/* Which configuration to run for throughput: of those that leave a fifth of the memory free, all within
 * tie_percent of the fastest count as equally fast, and of these the one with the lowest mean latency is taken. */
typedef struct assay_batch_choice {
    size_t size;   /* set to sizeof by the caller */
    size_t config; /* index of the chosen one: assay_profile_config() */
    uint64_t batch;
    const char *precision;
    uint64_t fastest_batch; /* of those that fit; as `batch` unless the tie decided; 0: not told */
    const char *fastest_precision;
    double samples_per_second, fastest_samples_per_second;
    double tie_percent;
    uint64_t memory_available; /* bytes it had to fit in; 0: not known */
    const char *why;           /* a sentence; "" in files of before it was told */
} assay_batch_choice;

typedef struct assay_outlier {
    size_t size;
    uint64_t run; /* from 1 on, as every view numbers the runs */
    double ms;
    const char *cause;
} assay_outlier;

typedef struct assay_progress {
    size_t size;
    const char *what; /* "session", "warm-up", "runs", "layers" */
    uint64_t batch;
    const char *precision;
    size_t index, count;    /* which configuration of how many */
    uint64_t done, planned; /* runs; planned is 0 when that is not known */
    double fraction;        /* of this configuration's runs */
    double work_after; /* of the configurations behind it, as multiples of this: by batch size */
} assay_progress;

typedef struct assay_hooks {
    size_t size; /* set to sizeof by the caller */
    void *ctx;
    /* Between runs; false ends the measuring. Any of the three may be NULL. */
    bool (*progress)(void *ctx, const assay_progress *p);
    /* Asked from another thread while a run goes on: true ends it. */
    bool (*cancelled)(void *ctx);
    /* A configuration is done, well or not. */
    void (*measured)(void *ctx, const assay_config *c);
    /* Looked at as often as cancelled() is asked: another number than 0 ends the measuring. For callers whose
     * functions are too slow to be called while a run is timed. NULL is fine. */
    const volatile int *stop;
} assay_hooks;

/* Hooks for the calls that take none and may take long: assay_scale() (progress tells of its sizes),
 * assay_map(), assay_fuse(), assay_validate(), assay_export(), and assay_analyze() with "advice". They are
 * asked between evaluations of the model and pieces of files; ASSAY_ERR_INTERRUPTED, and nothing comes back,
 * when one ends the call. Borrowed until others or NULL are set. */
ASSAY_API void assay_options_hooks(assay_options *options, const assay_hooks *hooks);

/* Runs the model on the engine and adds what was measured to a profile that assay_analyze() made with the
 * same options. `what` is ASSAY_MEASURE_ bits or 0: one configuration, the model as it is, unless the
 * options "batch-sizes" or "configs" name others. hooks may be NULL. A configuration that fails is
 * recorded and a warning; ASSAY_ERR_ENGINE when none ran or there is no engine. ASSAY_ERR_INTERRUPTED
 * when a hook ended it: what was measured until then is in the profile. */
ASSAY_API assay_status assay_measure(assay_model *model, const assay_options *options,
                                     unsigned what, const assay_hooks *hooks, assay_result *profile,
                                     assay_error *err);

ASSAY_API size_t assay_profile_config_count(const assay_result *profile); /* 0: nothing was run */
ASSAY_API bool assay_profile_config(const assay_result *profile, size_t index, assay_config *out);
/* The GPU that was looked at, or why there is none. */
typedef struct assay_gpu {
    size_t size;
    bool available, ranges; /* ranges: NVTX marks session, warm-up and runs (not with "no-nvtx") */
    const char *name, *driver, *why;
    uint64_t devices;
    size_t
        n_events; /* kernels and copies by name, when layers were measured on it; "gpu-events" chooses */
} assay_gpu;
/* What `assay machine` had measured of the machine when the model ran on it; false: nothing. */
typedef struct assay_ceilings {
    size_t size;          /* set to sizeof by the caller */
    const char *name;     /* of the processor */
    const char *measured; /* when */
    const char *dtype;    /* of operations_per_s */
    uint64_t threads;
    double operations_per_s;
    double bytes_per_s; /* of memory */
} assay_ceilings;
ASSAY_API bool assay_profile_ceilings(const assay_result *profile, assay_ceilings *out);
typedef struct assay_gpu_event {
    size_t size;
    const char *name;
    bool copy;
    uint64_t count;
    double time_ms; /* of one run */
} assay_gpu_event;
ASSAY_API bool assay_profile_gpu(const assay_result *profile,
                                 assay_gpu *out); /* false: nothing was run */
ASSAY_API bool assay_profile_gpu_event(const assay_result *profile, size_t index,
                                       assay_gpu_event *out);
/* Resident memory over time, from before the session was made. */
typedef struct assay_memory_sample {
    size_t size;
    double ms;
    uint64_t resident, anonymous, file_backed;
} assay_memory_sample;
ASSAY_API bool assay_profile_memory_sample(const assay_result *profile, size_t config, size_t index,
                                           assay_memory_sample *out);

/* What ran the model, and how it was told to. False: nothing was run. */
typedef struct assay_engine_used {
    size_t size;
    const char *name, *title, *version, *library, *device;
    const char *governor; /* of the processor's clock; "" when not told */
    int threads, opt_level;
    bool spin;
    uint64_t concurrency, seed;
    double rate; /* of an open loop, requests per second; 0: closed */
    size_t n_provider_options;
} assay_engine_used;
ASSAY_API bool assay_profile_engine(const assay_result *profile, assay_engine_used *out);
ASSAY_API bool assay_profile_provider_option(const assay_result *profile, size_t index,
                                             const char **key, const char **value);

/* Where the time of a profiled run went (ASSAY_MEASURE_LAYERS): run_ms is the sum of the four behind it. False:
 * layers were not timed. */
typedef struct assay_ledger {
    size_t size;
    uint64_t runs;
    double run_ms, layers_ms, engine_ms, dispatch_ms, unexplained_ms;
    double latency_ms;                                  /* median without the profiler */
    double profiler_us_per_kernel, profiler_us_between; /* that were subtracted */
    uint64_t kernels, fused_kernels, layers_without_kernel;
} assay_ledger;
ASSAY_API bool assay_profile_ledger(const assay_result *profile, assay_ledger *out);

/* The memory plan against runs without optimisations (ASSAY_MEASURE_PLAN), bytes of activations; docs/measuring.md
 * says what each is. False: it was not checked. */
typedef struct assay_plan_check {
    size_t size;
    uint64_t planned_peak, planned_in_order, planned_as_run, measured_peak;
    uint64_t planned_no_reuse, measured_no_reuse, workspace_bytes;
    const char *measured_peak_node, *first_unequal;
    uint64_t shapes_checked, shapes_equal;
    size_t n_moments;
    uint64_t planned_expanded, planned_with_kept;
} assay_plan_check;
ASSAY_API bool assay_profile_plan_check(const assay_result *profile, assay_plan_check *out);
/* The ledger from the planned peak to the measured one and the kernels' workspace: a named cause, the bytes that it
 * adds (or saves), and the sum with all causes before it. Causes are static. False past the end. */
ASSAY_API bool assay_profile_plan_step(const assay_result *profile, size_t index,
                                       const char **cause, int64_t *bytes, uint64_t *total_bytes);
/* In use when a kernel had ended, and planned by then (UINT64_MAX: not told). */
ASSAY_API bool assay_profile_plan_moment(const assay_result *profile, size_t index,
                                         const char **node, uint64_t *live_bytes,
                                         uint64_t *planned_bytes);

/* Times of layers, summed (ASSAY_MEASURE_LAYERS): by type, by module with all below it, and by each pattern of the
 * option "layers". False past the end. */
typedef struct assay_time_group {
    size_t size;
    const char *by; /* "type", "module" or "pattern" */
    const char *name;
    uint64_t layers;             /* that were timed */
    double time_ms, time_std_ms; /* of one run; a negative deviation: not told */
    uint64_t flops, memory;
} assay_time_group;
ASSAY_API bool assay_profile_time_group(const assay_result *profile, size_t index,
                                        assay_time_group *out);
/* The batch size that is recommended; false: nothing ran within the memory. */
ASSAY_API bool assay_profile_batch_choice(const assay_result *profile, assay_batch_choice *out);
ASSAY_API bool assay_profile_outlier(const assay_result *profile, size_t config, size_t index,
                                     assay_outlier *out);

/* ---- watching a process ---------------------------------------------------------------------- */

/* One look at a process with its descendants. UINT64_MAX: not told. */
typedef struct assay_watch_sample {
    size_t size;
    double time_s;
    double
        cpu_percent; /* since it was told before: 200 is two whole cores; NaN: too short to tell */
    uint64_t resident, anonymous, file_backed, processes, threads;
    uint64_t read_bytes, written_bytes, minor_faults, major_faults; /* so far */
} assay_watch_sample;

typedef struct assay_watch_info {
    size_t size;
    const char *command;
    uint64_t pid;
    int64_t exit_code; /* 128 + signal when one ended it; negative: not known */
    bool interrupted;
    double wall_s, cpu_s;
    double cpu_percent; /* NaN: it was too short to tell */
    uint64_t peak_resident, average_resident, peak_processes, peak_threads;
    uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
    uint64_t read_bytes, written_bytes;
    size_t n_samples;
} assay_watch_info;

typedef struct assay_watch_hooks {
    size_t size;
    void *ctx;
    bool (*sample)(void *ctx,
                   const assay_watch_sample *s); /* false ends the watching; may be NULL */
    bool (*cancelled)(void *ctx);                /* asked every few milliseconds; may be NULL */
    const volatile int *stop; /* looked at as often: another number than 0 ends it; may be NULL */
} assay_watch_hooks;

/* Starts argv (found along PATH, without a shell, with this process's streams; NULL-terminated), or looks at the
 * process `pid` when argv is NULL, until it ends, the option "duration" is over or a hook ends it; options
 * "interval" and "duration". A profile without a model comes back, whose section is `watch`; also with
 * ASSAY_ERR_INTERRUPTED. A command that goes on then is asked to end. ASSAY_ERR_SYSTEM: no such program or
 * process, or it cannot be started. */
ASSAY_API assay_status assay_watch(const char *const *argv, int64_t pid,
                                   const assay_options *options, const assay_watch_hooks *hooks,
                                   assay_result **out, assay_error *err);
/* False when the profile is not of a process. */
ASSAY_API bool assay_profile_watch(const assay_result *profile, assay_watch_info *out);
ASSAY_API bool assay_profile_watch_sample(const assay_result *profile, size_t index,
                                          assay_watch_sample *out);

/* The engine that would be used, without running anything. ASSAY_ERR_ENGINE when there is none. */
typedef struct assay_engine_info {
    size_t size;
    char name[32], title[64], version[64], library[512];
} assay_engine_info;
ASSAY_API assay_status assay_engine_find(const assay_options *options, assay_engine_info *out,
                                         assay_error *err);

/* ---- pipelines ------------------------------------------------------------------------------- */

/* What a whole generation costs: a diffusion pipeline component by component, or a language model's
 * prefill, decode and cache. */

/* `model` is a built-in pipeline (assay_pipeline_at() lists them), a built-in language model, or a folder of
 * diffusers or transformers. Options: "height", "image-width", "steps", "guidance-scale", "strength",
 * "prompt-tokens", "batch", "sweep", "pipeline-file"; "generate", "precision", "cache-dtype",
 * "memory-limit", "set", "hardware" (times by the roofline) of language models. A component whose
 * architecture is not known never fails the call: its `error` says why, it counts nothing, and there is a
 * warning. With "no-profiling" the answer is empty. */
ASSAY_API assay_status assay_pipeline(const char *model, const assay_options *options,
                                      assay_result **out, assay_error *err);

typedef struct assay_pipeline_info {
    size_t size;      /* set to sizeof by the caller */
    const char *kind; /* "diffusion" or "language"; "" when switched off and nobody knows it */
    const char *model;
    const char *component; /* "unet" or "transformer" */
    bool enabled;
    uint64_t parameters, active_parameters; /* of the denoiser, or of the language model */
    uint64_t steps, passes_per_step;
    uint64_t macs_per_pass, macs_per_step; /* of the denoiser; a step with its guidance */
    uint64_t amortised_macs_per_step;      /* everything, divided by the steps */
    uint64_t vae_macs, text_encoder_macs;  /* all prompts */
    uint64_t total_macs, total_flops;
    size_t n_components, n_warnings;
    uint64_t prefill_macs, decode_macs; /* of a language model; all steps */
    uint64_t cache_bytes_per_token, cache_bytes, serve_bytes;
    double inference_time_s; /* negative: not measured */
    /* of a language model that was measured, the whole batch; negative: not */
    double time_to_first_token_s, time_per_token_s, tokens_per_s;
    size_t n_devices; /* of a language model: as many as "hardware" named */
} assay_pipeline_info;
ASSAY_API void assay_pipeline_totals(const assay_result *pipeline, assay_pipeline_info *out);

typedef struct assay_component {
    size_t size;                      /* set to sizeof by the caller */
    const char *name, *role, *model;  /* strings live as long as the pipeline */
    const char *error;                /* why it could not be counted; "" when it was */
    uint64_t parameters, macs, flops; /* of one call */
    uint64_t calls, total_macs, total_flops;
    double percent; /* of the pipeline's MACs */
    uint64_t attention_qk_macs, attention_av_macs, attention_softmax_elements;
    uint64_t attention_projection_macs;
    double time_ms; /* of one call; negative: not measured */
} assay_component;
ASSAY_API bool assay_pipeline_component(const assay_result *pipeline, size_t index,
                                        assay_component *out);     /* false past the end */
ASSAY_API bool assay_pipeline_at(size_t index, const char **name); /* false past the end */

/* A language model on a device, by the roofline: the least times there could be. */
typedef struct assay_pipeline_place {
    size_t size;                /* set to sizeof by the caller */
    const char *device, *title; /* strings live as long as the pipeline */
    const char *precision;      /* whose peak was taken; "": the device has none, and no times */
    double time_to_first_token_s, time_per_token_s, total_s;
    double tokens_per_s; /* of the whole batch, while decoding */
    double memory_bytes;
    bool fits;
    int64_t largest_context, largest_batch;   /* -1: none; INT64_MAX: any */
    const char *prefill_bound, *decode_bound; /* "compute" or "memory" */
} assay_pipeline_place;
ASSAY_API bool assay_pipeline_on(const assay_result *pipeline, size_t index,
                                 assay_pipeline_place *out); /* false past the end */

/* Runs one call of every component of a diffusion pipeline, or the prefill and the first and last step of a
 * language model, on the engine (options as of assay_measure()) and adds the times up; hooks may be NULL. */
ASSAY_API assay_status assay_pipeline_measure(assay_result *pipeline, const assay_options *options,
                                              const assay_hooks *hooks, assay_error *err);

/* Single questions. 0, and a negative guidance, mean the pipeline's own; on failure the answer is 0. The
 * first is of one step: two passes when the guidance asks for them. */
ASSAY_API assay_status assay_pipeline_denoiser_macs(const char *model, int64_t height,
                                                    int64_t width, int64_t prompt_tokens,
                                                    double guidance_scale, uint64_t *macs,
                                                    assay_error *err);
ASSAY_API assay_status assay_pipeline_vae_decode_macs(const char *model, int64_t height,
                                                      int64_t width, uint64_t *macs,
                                                      assay_error *err);
ASSAY_API assay_status assay_pipeline_text_encoder_macs(const char *model, int64_t prompt_tokens,
                                                        bool negative_prompt, uint64_t *macs,
                                                        assay_error *err);
/* All of it at once; out->model is "". */
ASSAY_API assay_status assay_pipeline_summarize(const char *model, int64_t height, int64_t width,
                                                int64_t steps, int64_t prompt_tokens,
                                                double guidance_scale, assay_pipeline_info *out,
                                                assay_error *err);
/* From 1 to 12 pipelines of one kind side by side. Borrows them until freed. */
ASSAY_API assay_status assay_pipelines(const assay_result *const *pipelines, size_t n,
                                       assay_result **out, assay_error *err);

/* ---- devices --------------------------------------------------------------------------------- */

/* The static profile of a model and where it stands on devices: the options "hardware", "precision" (a
 * list), "batch-sizes", "goal". Times are a roofline's; those of `this` come from measured kernels, with an
 * interval, when the machine was calibrated (assay_machine_measure()). As assay_analyze() in everything else. */
ASSAY_API assay_status assay_map(assay_model *model, const assay_options *options,
                                 assay_result **out, assay_error *err);

typedef struct assay_place {
    size_t size;                                      /* set to sizeof by the caller */
    const char *device, *precision, *verdict, *bound; /* device: its id */
    int64_t batch;
    double latency_ms, throughput; /* samples per second */
    double energy_j;               /* of a sample; 0: power is not known */
    double training_step_ms;       /* 0: the precision is not one that is trained at */
    uint64_t memory_bytes, training_memory_bytes;
    bool fits, training_fits, pareto;
    double latency_low_ms,
        latency_high_ms; /* 80 % interval of a calibrated time; 0: it is a roofline's */
    double percent_of_peak;
    double compute_percent, memory_percent,
        overhead_percent;                              /* of the time, by what binds a layer */
    double gain_flops_percent, gain_bandwidth_percent; /* less time with 10 % more of it */
} assay_place;
ASSAY_API size_t assay_profile_place_count(const assay_result *profile);
ASSAY_API bool assay_profile_place(const assay_result *profile, size_t index, assay_place *out);

/* A precision of a device that the model was placed on; false past the end. */
typedef struct assay_fit {
    size_t size; /* set to sizeof by the caller */
    const char *device, *precision;
    double peak, ridge; /* operations per second; FLOPs per byte */
    /* That leave 20 % of the memory free; 0: none does, -1: the precision is not one that is trained at. */
    int64_t largest_batch, largest_training_batch;
    bool widest,
        cheapest; /* at the smallest batch: the widest, and the fastest, that leaves as much free */
} assay_fit;
ASSAY_API bool assay_profile_fit(const assay_result *profile, size_t index, assay_fit *out);

/* A layer in the first place of a device, when at most four were asked for; false past the end. */
typedef struct assay_placed_layer {
    size_t size; /* set to sizeof by the caller */
    const char *device, *name, *type;
    const char *bound; /* "compute", "memory", "overhead", or "folded" into another */
    double time_ms, percent_of_peak;
} assay_placed_layer;
ASSAY_API bool assay_profile_placed_layer(const assay_result *profile, size_t index,
                                          assay_placed_layer *out);

/* ---- fusion ---------------------------------------------------------------------------------- */

/* The static profile of a model with its layers cut into groups that may each run as one kernel, and the
 * patterns that were found: the option "strategy" ("none", "conventional", "aggressive"). As assay_analyze() in
 * everything else, which finds patterns too with the option "patterns". */
ASSAY_API assay_status assay_fuse(assay_model *model, const assay_options *options,
                                  assay_result **out, assay_error *err);

typedef struct assay_fusion {
    size_t size; /* set to sizeof by the caller */
    const char *strategy;
    size_t groups, levels, widest_level_groups, critical_groups;
    uint64_t launches_before, launches_after; /* of kernels, per run of the model */
    uint64_t bytes_before, bytes_after;       /* moved by layers alone, by groups */
    uint64_t critical_flops;                  /* of the costliest path */
    double intensity_before, intensity_after; /* FLOPs per byte */
    double concurrency;                       /* all FLOPs over those of the costliest path */
    /* Beside the engine, when that was asked for: its kernels, groups that were compared, and those that are
     * kernels of its own optimised graph; else 0. */
    size_t engine_kernels, compared_groups, same_groups;
} assay_fusion;
ASSAY_API bool assay_profile_fusion(const assay_result *profile, assay_fusion *out);

typedef struct assay_group {
    size_t size; /* set to sizeof by the caller */
    const char *kind;
    size_t n_nodes, n_depends_on;
    const uint32_t
        *depends_on; /* groups, all of them before this one; lives as long as the profile */
    uint64_t flops, macs;
    uint64_t memory, boundary_bytes; /* moved by its layers one by one, by it as one kernel */
    uint64_t launches;               /* 0: views alone */
    size_t level;
    bool critical; /* on the costliest path */
    double arithmetic_intensity, intensity_before;
} assay_group;
ASSAY_API bool assay_profile_group(const assay_result *profile, size_t index, assay_group *out);
/* Name of a layer of a group; NULL past the end. */
ASSAY_API const char *assay_profile_group_node(const assay_result *profile, size_t group,
                                               size_t index);

typedef struct assay_pattern {
    size_t size;             /* set to sizeof by the caller */
    const char *name, *form; /* "gelu", "erf" */
    const char *output;      /* name of the layer that makes its result */
    size_t n_nodes;
    bool native; /* one operator of the file */
    uint64_t flops, macs;
} assay_pattern;
ASSAY_API bool assay_profile_pattern(const assay_result *profile, size_t index, assay_pattern *out);
ASSAY_API const char *assay_profile_pattern_node(const assay_result *profile, size_t pattern,
                                                 size_t index);

/* ---- scaling --------------------------------------------------------------------------------- */

/* How cost grows with sizes: the option "dim" with ranges ("batch=1..64", "height=224..1024..32", "seq=8,16"),
 * and "solve" for the largest size within a limit. Every point is an evaluation of the model; a size that it
 * does not take is listed with the reason. */
ASSAY_API assay_status assay_scale(assay_model *model, const assay_options *options,
                                   assay_result **out, assay_error *err);

typedef struct assay_scaling_info {
    size_t size; /* set to sizeof by the caller */
    const char *model;
    size_t n_axes, n_points, n_refused, n_answers;
    uint64_t evaluations; /* of the model, those behind closed forms and answers included */
} assay_scaling_info;
ASSAY_API void assay_scaling_totals(const assay_result *scaling, assay_scaling_info *out);

#define ASSAY_SCALING_AXES 4
typedef struct assay_axis {
    size_t size;                      /* set to sizeof by the caller */
    const char *name, *kind, *symbol; /* kind: "batch", "input", "dimension", "parameter" */
    double from, to;
    size_t n_values;
    int64_t granule;  /* closed forms are in units of it, and hold at its multiples */
    int64_t accepted; /* the model takes multiples of this */
} assay_axis;
ASSAY_API bool assay_scaling_axis(const assay_result *scaling, size_t index, assay_axis *out);

typedef struct assay_point {
    size_t size; /* set to sizeof by the caller */
    double at[ASSAY_SCALING_AXES];
    const char *refused; /* "" when the model takes these sizes */
    uint64_t macs, flops, traffic_bytes, parameters;
    uint64_t activations_peak_bytes, peak_bytes;
    uint64_t training_bytes; /* with AdamW; 0: not asked for */
} assay_point;
ASSAY_API bool assay_scaling_point(const assay_result *scaling, size_t index, assay_point *out);

/* The closed form of "macs", "flops", "traffic_bytes", "parameters", "activations_peak_bytes", "peak_bytes" or
 * "training_bytes": a sum of terms over u = size / granule of each axis. */
typedef struct assay_form {
    size_t size; /* set to sizeof by the caller */
    bool exact;  /* every evaluation at multiples of the granules is met to the unit */
    size_t n_terms, checked;
    double error_percent; /* the largest, when not exact */
    double exponent[ASSAY_SCALING_AXES];
} assay_form;
typedef struct assay_term {
    size_t size;                    /* set to sizeof by the caller */
    int64_t numerator, denominator; /* of an exact form; else 0 */
    double value;
    uint8_t powers[ASSAY_SCALING_AXES];
} assay_term;
ASSAY_API bool assay_scaling_form(const assay_result *scaling, const char *metric,
                                  assay_form *out); /* false: no such metric */
ASSAY_API bool assay_scaling_term(const assay_result *scaling, const char *metric, size_t index,
                                  assay_term *out); /* false past the end */

typedef struct assay_answer {
    size_t size; /* set to sizeof by the caller */
    const char *question;
    size_t axis;                   /* that is asked for; the others stand where `at` says */
    const char *outcome;           /* "found", "none" or "always" */
    double at[ASSAY_SCALING_AXES]; /* at[axis] is the answer */
    uint64_t figure;               /* there */
    double next;                   /* the next size, which breaks the limit; 0: none was found */
    uint64_t next_figure;          /* 0: the model does not take it */
} assay_answer;
ASSAY_API bool assay_scaling_answer(const assay_result *scaling, size_t index, assay_answer *out);
/* "console", "json" (assay.scaling/1), "csv", "md", "html" or "summary-html". */
ASSAY_API assay_status assay_result_write(const assay_result *scaling, const char *format,
                                          const assay_options *options, char **out, size_t *n,
                                          assay_error *err);

/* ---- reports --------------------------------------------------------------------------------- */

/* Profiles side by side, from 2 to 12: totals with ratios to the first, operator types, and of two the layers
 * behind the difference. Borrows the profiles until freed. Where profiles hold runs (saved results), each is judged against the first by these; contexts that differ are
 * named. The option "tolerance" is how much is no difference. */
ASSAY_API assay_status assay_compare(const assay_result *const *profiles, size_t n,
                                     const assay_options *options, assay_result **out,
                                     assay_error *err);
/* Runs the models (one per profile, in their order) turn by turn in this process, at least "num-runs" runs of
 * each, and judges each against the first. "precision" is one for all or a list with one for each. What was
 * measured is added to the profiles, which may be kept (assay_store_save()). hooks may be NULL. Of three and
 * more, one whose precision the model or the engine does not have is "not run", and the others are.
 * ASSAY_ERR_INCONCLUSIVE when some answer is "cannot tell". */
ASSAY_API assay_status assay_compare_measure(assay_result *comparison, assay_model *const *models,
                                             size_t n, const assay_options *options,
                                             const assay_hooks *hooks, assay_error *err);
typedef struct assay_timing {
    size_t size;         /* set to sizeof by the caller */
    const char *verdict; /* "faster", "slower", "no difference", "cannot tell", "not run" */
    const char *why;     /* or "" */
    bool interleaved;    /* run turn by turn; else by saved runs */
    bool tested;         /* the two below hold the 99 % interval */
    double ratio, ratio_low, ratio_high; /* time over that of the first */
    uint64_t runs;
    /* instructions of a run over those of the first, where the kernel tells: of medians and at worst; else 0 */
    double instructions_ratio, instructions_low, instructions_high;
} assay_timing;
/* False when there are no runs of the index-th profile, or it is the first. */
ASSAY_API bool assay_comparison_timing(const assay_result *comparison, size_t index,
                                       assay_timing *out);
/* Of two: a layer behind the difference, by how many FLOPs; figures are after less before. */
typedef struct assay_layer_change {
    size_t size;                /* set to sizeof by the caller */
    const char *change;         /* "added", "removed", "reshaped", "changed" */
    const char *before, *after; /* names, "" where it is missing; live as long as the profiles */
    const char *type;
    int64_t macs, flops, parameters, memory, peak_bytes;
    double time_ms; /* 0 unless both were measured */
    char attributes
        [240]; /* that are others: "strides [1,1] → [2,2], epsilon default → 0.001"; or "" */
} assay_layer_change;
ASSAY_API bool assay_comparison_layer(const assay_result *comparison, size_t index,
                                      assay_layer_change *out); /* false past the end */
/* The page that asks the server it came from for everything (docs/reports.md has its requests): one file of HTML.
 * ASSAY_ERR_UNSUPPORTED when the library was built without node. The memory is the caller's (assay_free()). */
ASSAY_API assay_status assay_dashboard(char **out, size_t *n, assay_error *err);
/* Licences of what the page is made of, or "". */
ASSAY_API const char *assay_page_licenses(void);
/* Our counts of models (paths or built-in names) beside those of another tool: the option "lens", fvcore
 * unless given, or "all". With the option "live" the tool itself is asked, when this machine has it. No
 * models at all means a few well-known ones. */
ASSAY_API assay_status assay_validate(const char *const *models, size_t n_models,
                                      const assay_options *options, assay_result **out,
                                      assay_error *err);
/* ---- gates ----------------------------------------------------------------------------------- */

/* The figures that a threshold can limit and a baseline is compared by. */
typedef struct assay_metric_info {
    size_t size; /* set to sizeof by the caller */
    const char *name, *title;
    const char *aliases; /* space separated, or "" */
    const char *unit;    /* "ms", "bytes", "count", "1/s", "percent", "number" */
    const char *example; /* of a limit: "100ms" */
    bool more_is_better, measured;
} assay_metric_info;
ASSAY_API bool assay_metric_at(size_t index, assay_metric_info *out); /* false past the end */
/* The value of a metric, by name or alias; false when the profile does not hold it. */
ASSAY_API bool assay_profile_metric(const assay_result *profile, const char *metric, double *out);

/* Judges a profile: the limits that the option "threshold" set ("latency:100ms", repeatable), and a
 * baseline (or NULL) that it must not be worse than: counts exactly, measured metrics by a test of the
 * runs that both hold, with the option "tolerance". `baseline_name` is what reports call it.
 * ASSAY_OK, ASSAY_ERR_THRESHOLD or ASSAY_ERR_INCONCLUSIVE, with *out set in all three cases; docs/ci.md
 * has the statistics. */
ASSAY_API assay_status assay_check(const assay_result *profile, const assay_result *baseline,
                                   const char *baseline_name, const assay_options *options,
                                   assay_result **out, assay_error *err);

typedef struct assay_verdict {
    size_t size; /* set to sizeof by the caller */
    const char *metric, *title, *unit;
    const char
        *verdict; /* "pass", "improvement", "regression", "missed", "inconclusive", "not judged" */
    const char *why;    /* a sentence, or ""; lives as long as the verdicts */
    bool against_limit; /* else against the baseline */
    bool at_least;
    double limit, value, baseline;
    double ratio; /* value / baseline; 0: none */
    bool tested;  /* low and high hold the 99 % interval of the ratio */
    double ratio_low, ratio_high;
} assay_verdict;
ASSAY_API bool assay_verdicts_at(const assay_result *verdicts, size_t index,
                                 assay_verdict *out); /* false past the end */
/* "console", "json" (assay.check/1), "csv", "md", "html", "summary-html", "junit" or "github" (annotations). */
ASSAY_API assay_status assay_result_write(const assay_result *verdicts, const char *format,
                                          const assay_options *options, char **out, size_t *n,
                                          assay_error *err);
/* Whether the options hold limits at all, and whether they, or the baseline (or NULL), ask for measured
 * figures. */
ASSAY_API bool assay_options_limits(const assay_options *options);
ASSAY_API bool assay_options_measured(const assay_options *options, const assay_result *baseline);
/* Makes the options measure as the baseline was measured (batch, precision, threads, concurrency, optimisation,
 * spinning), where they do not say otherwise; nothing when it was not. ASSAY_ERR_USAGE when the baseline lacks one
 * of the metrics of the option "metrics". */
ASSAY_API assay_status assay_options_follow(assay_options *options, const assay_result *baseline,
                                            assay_error *err);

/* ---- history --------------------------------------------------------------------------------- */

/* Results over time, in an SQLite file (docs/history.md). Several programs may use the same file at the same
 * time; a store itself is used by one thread at a time. */
typedef struct assay_store assay_store;

/* Where the history is: `given`, else the environment's ASSAY_DB, else assay/history.db in $XDG_DATA_HOME or in
 * ~/.local/share. The memory is the caller's (assay_free()). */
ASSAY_API assay_status assay_store_path(const char *given, char **out, assay_error *err);
/* `path` as for assay_store_path(). With `create` the file and its folders are made when they are not there;
 * without, a file that was named and is not there is ASSAY_ERR_SYSTEM, and a default one is an empty history.
 * An older schema is brought forward. ASSAY_ERR_MALFORMED: not a history, or damaged; ASSAY_ERR_UNSUPPORTED: a
 * newer assay made it. */
ASSAY_API assay_status assay_store_open(const char *path, bool create, assay_store **out,
                                        assay_error *err);
ASSAY_API void assay_store_close(assay_store *store); /* NULL is fine */

/* ASSAY_ERR_USAGE with a sentence unless all may be tags of one run: 1 to 64 bytes of UTF-8 each without commas
 * and controls, 32 at most. For whoever wants to know before a long measurement. */
ASSAY_API assay_status assay_tags_check(const char *const *tags, size_t n, assay_error *err);
/* Keeps a profile, a pipeline or a machine; when it returns ASSAY_OK the run is on the disk. options (or NULL) say by
 * which command and engine a pipeline or a machine was made. `id` may be NULL. */
ASSAY_API assay_status assay_store_save(assay_store *store, const assay_result *result,
                                        const assay_options *options, const char *const *tags,
                                        size_t n_tags, int64_t *id, assay_error *err);
/* The same for a result (of a model, a pipeline or a machine) as JSON text, kept with the keys that are not known here; `name` is what sentences call
 * it. */
ASSAY_API assay_status assay_store_add(assay_store *store, const void *json, size_t n,
                                       const char *name, const char *const *tags, size_t n_tags,
                                       int64_t *id, assay_error *err);
/* ASSAY_ERR_USAGE when there is no run of that number; `kind` as of assay_result_read(). */
ASSAY_API assay_status assay_store_get(assay_store *store, int64_t id, const char *kind,
                                       assay_result **out, assay_error *err);
/* The JSON document as it was kept; the memory is the caller's. */
ASSAY_API assay_status assay_store_document(assay_store *store, int64_t id, char **out, size_t *n,
                                            assay_error *err);
ASSAY_API assay_status assay_store_tag(assay_store *store, int64_t id, const char *const *add,
                                       size_t n_add, const char *const *remove, size_t n_remove,
                                       assay_error *err);
/* The same from {"add": ["a"], "remove": ["b"]}. */
ASSAY_API assay_status assay_store_tag_json(assay_store *store, int64_t id, const void *json,
                                            size_t n, assay_error *err);
ASSAY_API assay_status assay_store_delete(assay_store *store, int64_t id, assay_error *err);

typedef struct assay_record_filter {
    size_t size;       /* set to sizeof by the caller */
    const char *query; /* in the model, the command, the machine or a tag; texts may be NULL */
    const char *model; /* whole name, or what stands behind its last '/' */
    const char *tag;
    const char *since; /* "2026-11-15", "2026-11-15T19:06:00Z" or "30d", "12h", "2w" ago */
    int64_t id;        /* 0: any */
    int64_t limit;     /* 0: all */
    int64_t offset;
} assay_record_filter;

typedef struct assay_run {
    size_t size; /* set to sizeof by the caller */
    int64_t id;
    const char *model, *created, *command, *host, *precision, *device; /* "" when not told */
    uint64_t batch;                                                    /* 0: not told */
    double p50_ms, p95_ms, mean_ms, throughput, memory_bytes, macs, parameters; /* or negative */
    size_t n_tags;
    const char *const *tags;
    uint64_t runs;    /* of assay_store_models(): of this model */
    const char *kind; /* "profile", "pipeline", "machine" or "watch" */
} assay_run;

/* Newest first; filter may be NULL. Strings live as long as the list. */
ASSAY_API assay_status assay_store_list(assay_store *store, const assay_record_filter *filter,
                                        assay_result **out, assay_error *err);
/* The newest run of every model, by name. */
ASSAY_API assay_status assay_store_models(assay_store *store, assay_result **out, assay_error *err);
ASSAY_API uint64_t assay_runs_total(const assay_result *runs); /* that match, in the list or not */
ASSAY_API bool assay_runs_at(const assay_result *runs, size_t index, assay_run *out);
/* "console", "json" (assay.runs/1, assay.models/1), "csv", "md", "html" or "summary-html". */
ASSAY_API assay_status assay_result_write(const assay_result *runs, const char *format,
                                          const assay_options *options, char **out, size_t *n,
                                          assay_error *err);

/* Lines of JSON with tags and documents (docs/history.md); the memory is the caller's. `n_runs` may be NULL. */
ASSAY_API assay_status assay_store_export(assay_store *store, const assay_record_filter *filter,
                                          char **out, size_t *n, uint64_t *n_runs,
                                          assay_error *err);
/* A file of such lines, or a result. All or nothing; runs that are there already are skipped and counted in
 * `known`. Both counts may be NULL. */
ASSAY_API assay_status assay_store_import(assay_store *store, const char *path, uint64_t *added,
                                          uint64_t *known, assay_error *err);

/* A metric over the runs of a model (docs/history.md): its level, where the level changed, alerts. */
typedef struct assay_trend_request {
    size_t size;        /* set to sizeof by the caller */
    const char *model;  /* as in assay_record_filter */
    const char *metric; /* by name or alias; NULL: p50, or what runs without a median hold */
    const char *tag, *since;
    bool all;                  /* runs of other machines and setups than the newest one's too */
    int64_t limit;             /* of runs, the newest; 0: 5000 */
    const char *const *alerts; /* "p95 > 1.2x median(30d)" */
    size_t n_alerts;
} assay_trend_request;
/* ASSAY_ERR_THRESHOLD when an alert fired, ASSAY_ERR_INCONCLUSIVE when one could not be judged, both with *out set.
 * ASSAY_ERR_USAGE: no such model or metric, or an alert that is not understood (err->offset is the place in it). */
ASSAY_API assay_status assay_store_trend(assay_store *store, const assay_trend_request *request,
                                         assay_result **out, assay_error *err);

typedef struct assay_trend_info {
    size_t size; /* set to sizeof by the caller */
    const char *model, *metric, *unit, *setup;
    size_t n_points, n_changes, n_alerts;
    uint64_t left_out, older; /* runs of another setup, and more than the limit */
    double newest, median, mean, min, max;
} assay_trend_info;
ASSAY_API void assay_trend_totals(const assay_result *trend, assay_trend_info *out);

typedef struct assay_trend_point {
    size_t size; /* set to sizeof by the caller */
    int64_t id, created_s;
    double value;
} assay_trend_point;
ASSAY_API bool assay_trend_point_at(const assay_result *trend, size_t index,
                                    assay_trend_point *out); /* oldest first */

typedef struct assay_trend_change {
    size_t size;  /* set to sizeof by the caller */
    size_t point; /* the first of the new level */
    double before, after, p;
    bool worse;
} assay_trend_change;
ASSAY_API bool assay_trend_change_at(const assay_result *trend, size_t index,
                                     assay_trend_change *out);

typedef struct assay_trend_alert {
    size_t size; /* set to sizeof by the caller */
    const char *expression, *why;
    bool judged, fired;
    double value, limit;
} assay_trend_alert;
ASSAY_API bool assay_trend_alert_at(const assay_result *trend, size_t index,
                                    assay_trend_alert *out);
/* "console", "json" (assay.trend/1), "csv", "md", "html" or "summary-html". */
ASSAY_API assay_status assay_result_write(const assay_result *trend, const char *format,
                                          const assay_options *options, char **out, size_t *n,
                                          assay_error *err);

/* ---- capacity -------------------------------------------------------------------------------- */

/* How many machines serve a rate of requests within a latency, from results that were measured on one
 * (docs/capacity.md has the queueing model). Options: "target" ("5000rps"), "latency" ("p99:50ms"), "headroom" (per
 * cent of a machine that is kept free; 20). `names` says what the results are called, or NULL: their models.
 * ASSAY_ERR_THRESHOLD with *out set when no configuration can do it. */
ASSAY_API assay_status assay_capacity(const assay_result *const *profiles, const char *const *names,
                                      size_t n, const assay_options *options, assay_result **out,
                                      assay_error *err);

typedef struct assay_capacity_config {
    size_t size;                           /* set to sizeof by the caller */
    const char *source, *precision, *why;  /* why: it is not feasible; or "" */
    uint64_t batch, concurrency, machines; /* machines and what follows `best`: when feasible */
    bool feasible, best;
    double requests_per_second, requests_per_second_most; /* of one machine: now, and at most */
    double utilization;
    double quantile_ms, mean_ms; /* of a request; the mean is the next three together */
    double forming_ms, waiting_ms, service_ms;
    double in_flight; /* requests in one machine */
} assay_capacity_config;
ASSAY_API bool assay_capacity_at(const assay_result *capacity, size_t index,
                                 assay_capacity_config *out); /* false past the end */
/* "console", "json" (assay.capacity/1), "csv", "md", "html" or "summary-html". */
ASSAY_API assay_status assay_result_write(const assay_result *capacity, const char *format,
                                          const assay_options *options, char **out, size_t *n,
                                          assay_error *err);

/* ---- this machine ---------------------------------------------------------------------------- */

/* What this machine can do at best, measured: arithmetic per dtype and instruction set, bandwidth per level
 * of memory, the engine's cost of a kernel; and what the system says of it (docs/hardware.md). */

/* Options: "quick", "threads" (0: all), "engine-lib", "calibrate" (runs models for about a minute more). Takes half a minute, quick five seconds; hooks may be
 * NULL (progress: done and planned are milliseconds). ASSAY_ERR_INTERRUPTED when a hook ended it. Nothing is
 * kept until assay_machine_save(). */
ASSAY_API assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                             assay_result **out, assay_error *err);
/* What was measured before: a file, or with NULL the one of this machine, which is the device `this`. */
ASSAY_API assay_status assay_machine_open(const char *path, assay_result **out, assay_error *err);
/* Into a file, or with NULL where `this` is looked for. Atomic. */
ASSAY_API assay_status assay_machine_save(assay_result *machine, const char *path,
                                          assay_error *err);
/* Where `this` is looked for; lives as long as the machine. */
ASSAY_API const char *assay_machine_path(assay_result *machine);

/* Texts live as long as the machine and are "" when not told; counts are 0 then, other figures negative. */
typedef struct assay_machine_info {
    size_t size; /* set to sizeof by the caller */
    const char *timestamp, *cpu, *machine, *host, *os;
    const char *governor, *clock_driver, *hypervisor, *container; /* the last two may be "none" */
    unsigned sockets, cores, processors, threads_per_core, usable_processors, numa_nodes;
    double quota_processors; /* of the control group */
    uint64_t memory_bytes;
    double mhz, mhz_min, mhz_max, mhz_base;
    double steal_percent_since_boot, steal_percent; /* the second: while it was measured */
    double seconds;                                 /* that measuring took */
    bool quick;
    const char *engine; /* with its version, or why there is none */
    double dispatch_s, dispatch_low_s, dispatch_high_s;
} assay_machine_info;
ASSAY_API void assay_machine_about(const assay_result *machine, assay_machine_info *out);

/* A ceiling: the 90th percentile of many short samples, its 95 % interval, and the distance of the quartiles
 * as a share of the median. */
typedef struct assay_figure {
    double value, low, high, spread;
    uint64_t samples;
} assay_figure;
typedef struct assay_rate {
    size_t size;             /* set to sizeof by the caller */
    const char *dtype, *isa; /* "float32", "avx2+fma" */
    unsigned threads;
    assay_figure operations_per_second; /* a multiply-add is two */
} assay_rate;
typedef struct assay_flow {
    size_t size;              /* set to sizeof by the caller */
    const char *level, *kind; /* "L1" ... "DRAM"; "read", "write", "copy", "triad" */
    unsigned threads;
    uint64_t set_bytes; /* of one thread */
    assay_figure bytes_per_second;
} assay_flow;
typedef struct assay_cache {
    size_t size; /* set to sizeof by the caller */
    unsigned level;
    const char *kind; /* "data", "instruction", "unified" */
    uint64_t size_bytes;
    unsigned line_bytes, ways, instances, shared_by;
} assay_cache;
/* The walks return false, or NULL, past the end. */
ASSAY_API bool assay_machine_rate(const assay_result *machine, size_t index, assay_rate *out);
ASSAY_API bool assay_machine_flow(const assay_result *machine, size_t index, assay_flow *out);
ASSAY_API bool assay_machine_cache(const assay_result *machine, size_t index, assay_cache *out);
/* Bandwidth of one thread over its working set. */
ASSAY_API bool assay_machine_curve(const assay_result *machine, size_t index, uint64_t *set_bytes,
                                   double *read, double *triad);
ASSAY_API const char *assay_machine_isa(const assay_result *machine, size_t index);
/* What the system did not tell, in words. */
ASSAY_API const char *assay_machine_unknown(const assay_result *machine, size_t index);
/* Operations per second that a kernel of this intensity can reach: the peak of the dtype (numpy's name) or
 * what memory delivers, whichever is less. threads 0: all. 0 when the dtype was not measured. */
ASSAY_API double assay_machine_roof(const assay_result *machine, const char *dtype,
                                    unsigned threads, double flops_per_byte);
/* What times on `this` are predicted from; false when it was not calibrated. */
typedef struct assay_calibration {
    size_t size; /* set to sizeof by the caller */
    const char *engine;
    unsigned threads;
    double seconds;                     /* that it took */
    double median_error;                /* of models left out, a share */
    double interval_low, interval_high; /* measured over predicted: 80 % of them lie between */
    size_t n_runs, n_families;
} assay_calibration;
ASSAY_API bool assay_machine_calibration(const assay_result *machine, assay_calibration *out);
/* A model that was measured, and what the others predict for it; false past the end. */
typedef struct assay_calibration_run {
    size_t size; /* set to sizeof by the caller */
    const char *model;
    unsigned batch;
    double measured_s, predicted_s;
} assay_calibration_run;
ASSAY_API bool assay_machine_calibration_run(const assay_result *machine, size_t index,
                                             assay_calibration_run *out);
/* ---- files ----------------------------------------------------------------------------------- */

/* The format that a file name's suffix stands for ("json" for "x.json"), or NULL. */
ASSAY_API const char *assay_format_of(const char *path);

typedef struct assay_format_info {
    size_t size; /* set to sizeof by the caller */
    const char *name, *suffix, *about;
} assay_format_info;
ASSAY_API bool assay_format_at(size_t index, assay_format_info *out); /* false past the end */

/* A file that appears whole or not at all: opened before the work (parent folders are created, an
 * impossible path fails now), committed after it. An existing file stays as it was until then. */
typedef struct assay_output assay_output;
ASSAY_API assay_status assay_output_open(const char *path, assay_output **out, assay_error *err);
/* Writes and commits; frees the output in any case. */
ASSAY_API assay_status assay_output_commit(assay_output *output, const void *p, size_t n,
                                           assay_error *err);
ASSAY_API void assay_output_abandon(assay_output *output); /* NULL is fine */
/* Adds to the end of a file that others write to as well; it is made when it is not there. */
ASSAY_API assay_status assay_output_append(const char *path, const void *p, size_t n,
                                           assay_error *err);

/* The bytes of a small file, NUL-terminated; the memory is the caller's (assay_free()). */
ASSAY_API assay_status assay_file_read(const char *path, size_t max_bytes, char **out, size_t *n,
                                       assay_error *err);

/* ---- what the library knows ------------------------------------------------------------------ */

typedef struct assay_op_info {
    size_t size; /* set to sizeof by the caller */
    const char *domain, *name, *type, *versions, *formula;
} assay_op_info;
ASSAY_API bool assay_op_at(size_t index, assay_op_info *out); /* false past the end */

typedef struct assay_lens_info {
    size_t size; /* set to sizeof by the caller */
    const char *name, *unit, *about;
} assay_lens_info;
ASSAY_API bool assay_lens_at(size_t index, assay_lens_info *out); /* false past the end */

/* Hardware rows: those built in, and those of files in their form (docs/hardware.md). `hardware` is as
 * the option of that name: "rtx3090,a100-80", "all", "mine.json"; NULL is "all". Texts are borrowed
 * from the list. Figures are in base units; 0 is not known, or not there. */
#define ASSAY_DEVICE_PRECISIONS 6
typedef struct assay_devices assay_devices;
typedef struct assay_device_info {
    size_t size; /* set to sizeof by the caller */
    const char *id, *aliases, *name, *kind, *certainty, *source;
    double
        peak[ASSAY_DEVICE_PRECISIONS]; /* dense operations per second; assay_device_precision() */
    double memory_bytes, bandwidth, power_w, overhead_s;
    double fp16_acc16; /* fp16 with fp16 accumulation; peak[] accumulates in fp32, int8 in int32 */
} assay_device_info;
ASSAY_API assay_status assay_devices_open(const char *hardware, assay_devices **out,
                                          assay_error *err);
ASSAY_API bool assay_devices_at(const assay_devices *devices, size_t index,
                                assay_device_info *out);    /* false past the end */
ASSAY_API void assay_devices_free(assay_devices *devices);  /* NULL is fine */
ASSAY_API const char *assay_device_precision(size_t index); /* "fp32", ...; NULL past the end */

/* Whether the installation is well: one line each. */
typedef struct assay_doctor_check {
    size_t size; /* set to sizeof by the caller */
    const char *name;
    bool ok;
    char detail[512];
    bool
        optional; /* what does not need it is well without it: the engine, for all that runs no model */
} assay_doctor_check;
ASSAY_API bool assay_doctor(size_t index, assay_doctor_check *out); /* false past the end */

#ifdef __cplusplus
}
#endif
#endif
