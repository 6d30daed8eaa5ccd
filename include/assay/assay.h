/* assay: what a model costs. The core of libassay's C interface.
 *
 *     assay_model *model;
 *     assay_result *profile;
 *     assay_error err;
 *     if (assay_model_open("resnet50", &model, &err) == ASSAY_OK &&
 *         assay_analyze(model, NULL, &profile, &err) == ASSAY_OK)
 *         printf("%.0f MACs\n", assay_result_number(profile, "total_macs"));
 *
 * A model is opened from a file, from bytes or by a built-in name. Every analysis gives a result. A result is read
 * by path (assay_result_get), written as text in many formats (assay_result_write), or saved as JSON and read again
 * (assay_result_read). Other headers hold the rest; each includes this one:
 *
 *     <assay/measure.h>   run a model on an engine; watch a process
 *     <assay/study.h>     devices, fusion, scaling, pipelines, comparison, checks, capacity, validation
 *     <assay/device.h>    the table of devices; this machine's measured ceilings
 *     <assay/history.h>   results over time
 *
 * Ownership. Objects are opaque. A function whose last out-parameter is an object hands it to the caller, who frees
 * it with the function named beside it. Freeing NULL does nothing. Text that a function writes to `char **text` is
 * the caller's: free it with assay_free(). A `const char *` belongs to the object it came from and lives as long.
 *
 * Errors. A function that can fail returns an assay_status and fills `err`, which may be NULL. Out-parameters are
 * NULL or 0 after a failure unless the function says otherwise. The library never prints, exits or aborts.
 *
 * Threads. The library keeps no global state. Different objects may be used by different threads at the same time.
 * One object must not be used by two threads at once, reading included.
 *
 * Structs that the caller allocates begin with `size`, which the caller sets to sizeof the struct. The library reads
 * and writes no further than that, so that structs may grow. A struct whose size is 0 is refused: ASSAY_ERR_USAGE, or
 * false from a function that returns bool.
 *
 *     assay_value v = {.size = sizeof v};
 *
 * Unknown. Every type has one way to say that a value is unknown or absent:
 *
 *     double                  NaN
 *     const char *, char[]    ""; never NULL, unless a comment says so
 *     uint64_t, size_t        UINT64_MAX (ASSAY_UNKNOWN)
 *     assay_value             type ASSAY_NONE
 *     assay_error.offset      ASSAY_NO_OFFSET
 *
 * In requests that the caller fills (filters, hooks) 0 and NULL mean "not given".
 *
 * Stability. Functions keep their meaning within a major version. Structs grow at their end only.
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

/* A whole number that is unknown. */
#define ASSAY_UNKNOWN UINT64_MAX

/* ---- version --------------------------------------------------------------------------------- */

#define ASSAY_VERSION_MAJOR 0
#define ASSAY_VERSION_MINOR 1
#define ASSAY_VERSION_PATCH 0
/* One number that grows with every version: 1.2.3 is 10203. For #if. */
#define ASSAY_VERSION_NUMBER \
    (ASSAY_VERSION_MAJOR * 10000 + ASSAY_VERSION_MINOR * 100 + ASSAY_VERSION_PATCH)

/* "0.1.0": the version of the library that runs, which may be newer than this header. */
ASSAY_API const char *assay_version(void);
/* The same as ASSAY_VERSION_NUMBER has it. */
ASSAY_API int assay_version_number(void);

/* ---- errors ---------------------------------------------------------------------------------- */

/* The values are the exit codes of the command line. */
typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_ERR_SYSTEM = 1,       /* a file cannot be read or written, or memory ran out */
    ASSAY_ERR_USAGE = 2,        /* an argument, an option or a struct's size is wrong */
    ASSAY_ERR_MALFORMED = 3,    /* a model or a result is damaged or of another kind */
    ASSAY_ERR_UNSUPPORTED = 4,  /* valid but unsupported; shapes contradict; "strict" failed */
    ASSAY_ERR_ENGINE = 5,       /* the engine is missing or failed */
    ASSAY_ERR_THRESHOLD = 6,    /* a limit was missed or a regression found */
    ASSAY_ERR_INCONCLUSIVE = 7, /* the noise is too large for an answer */
    ASSAY_ERR_INTERRUPTED = 130 /* a hook ended the call; partial results are kept */
} assay_status;

#define ASSAY_NO_OFFSET UINT64_MAX

typedef struct assay_error {
    assay_status code;
    uint64_t offset;   /* byte in the file that is wrong, or ASSAY_NO_OFFSET */
    char node[128];    /* node, value or key concerned; or "" */
    char message[768]; /* what is wrong, where, and what to do */
    int os_error;      /* errno behind it: ENOMEM, ENOSPC, ...; 0: none */
} assay_error;

/* A status in a few words: "malformed model or result". Never NULL. */
ASSAY_API const char *assay_status_text(assay_status status);
/* Frees text that a function handed to the caller. */
ASSAY_API void assay_free(void *text);

/* ---- models ---------------------------------------------------------------------------------- */

/* A model: a graph, and where its weights are. Freed by assay_model_free(). */
typedef struct assay_model assay_model;

/* Opens a model by the path of a file or folder (docs/formats.md lists the formats) or by a built-in name. A file is
 * recognised by its content. Weights stay in the file, which is kept open. A built-in architecture is built when it
 * is analysed, with the options "set", "input-shape" and "batch".
 * ASSAY_ERR_SYSTEM: the file cannot be read. ASSAY_ERR_USAGE: there is no such model. ASSAY_ERR_MALFORMED,
 * ASSAY_ERR_UNSUPPORTED: what the file holds cannot be used; err->offset says where. */
ASSAY_API assay_status assay_model_open(const char *model, assay_model **out, assay_error *err);

/* The same for an ONNX model in memory. Borrows `bytes` until the model is freed. `name` is what results call it.
 * `folder` holds its external data; NULL: none is allowed. */
ASSAY_API assay_status assay_model_from_bytes(const void *bytes, size_t n, const char *name,
                                              const char *folder, assay_model **out,
                                              assay_error *err);
ASSAY_API void assay_model_free(assay_model *model);

#define ASSAY_MODEL_INPUTS 4
/* An input at its default size. */
typedef struct assay_model_input {
    char name[32];   /* cut if it is longer */
    int rank;        /* at most 8 */
    int64_t dims[8]; /* the first `rank` are used */
} assay_model_input;

/* A built-in architecture. Texts are static. */
typedef struct assay_model_info {
    size_t size;
    const char *name;
    const char *aliases; /* separated by spaces */
    const char *family, *task;
    const char
        *defaults; /* parameters that differ from the family's: "block=basic layers=2,2,2,2" */
    /* 0 unless assay_model_cost() filled them: */
    uint64_t parameters, flops, macs;
    size_t n_inputs; /* may be above ASSAY_MODEL_INPUTS, of which the first are listed */
    assay_model_input inputs[ASSAY_MODEL_INPUTS];
} assay_model_info;

/* The index-th built-in architecture, from 0; false past the end. */
ASSAY_API bool assay_model_at(size_t index, assay_model_info *out);
/* The same with its cost at default sizes. Builds and counts the model, which takes about a millisecond. */
ASSAY_API assay_status assay_model_cost(size_t index, assay_model_info *out, assay_error *err);

/* ---- options --------------------------------------------------------------------------------- */

/* What a call is told beside its arguments, by the names of the command line without dashes: "input-shape", "dim",
 * "batch", "precision", "training", "strict", "top", "columns", ... assay_option_at() lists them all. Every function
 * that takes options accepts NULL for the defaults, and ignores options that are not about it.
 * Freed by assay_options_free(). */
typedef struct assay_options assay_options;

/* Options at their defaults; NULL when memory runs out. */
ASSAY_API assay_options *assay_options_new(void);
ASSAY_API void assay_options_free(assay_options *options);

/* Sets one option; copies `value`. A flag takes "true", "false", or NULL for true. A repeatable option gets one value
 * more each time. ASSAY_ERR_USAGE: the name is unknown, with the nearest one, or the value is not of its kind. */
ASSAY_API assay_status assay_options_set(assay_options *options, const char *name,
                                         const char *value, assay_error *err);
/* The value that was set last, as text ("true" for a flag); NULL: the option was not set. */
ASSAY_API const char *assay_options_get(const assay_options *options, const char *name);

/* An input tensor that the caller holds. Analyses take its shape; measuring runs it instead of random data. `data` is
 * in row-major order, little-endian, and borrowed until the options are freed; everything else is copied. Where the
 * model has another type, numbers are converted if they fit. Where it runs at another batch size, samples are left
 * out or repeated in turn. */
typedef struct assay_input {
    size_t size;
    const char *name;  /* NULL or "": the first input that has none yet */
    const char *dtype; /* as numpy calls it: "float32" */
    int rank;
    const int64_t *dims;
    const void *data;
    size_t n_bytes;
} assay_input;
/* ASSAY_ERR_USAGE: the type is unknown, or n_bytes is not what the shape needs. */
ASSAY_API assay_status assay_options_input(assay_options *options, const assay_input *input,
                                           assay_error *err);

/* How far a long call is. */
typedef struct assay_progress {
    size_t size;
    const char *what; /* "session", "warm-up", "runs", "layers", ... */
    uint64_t batch;
    const char *precision;
    size_t index, count;    /* which configuration of how many, from 0 */
    uint64_t done, planned; /* runs, or milliseconds of a machine; planned 0: open ended */
    double fraction;        /* of this configuration's runs, 0 to 1 */
    double work_after;      /* of the configurations behind it, as multiples of this one */
} assay_progress;

struct assay_result;

/* Functions of the caller's that a long call asks. Each may be NULL. */
typedef struct assay_hooks {
    size_t size;
    void *ctx; /* handed to every function */
    /* Called between runs and evaluations; false ends the call. */
    bool (*progress)(void *ctx, const assay_progress *p);
    /* Called from another thread while a run goes on; true ends the call. */
    bool (*cancelled)(void *ctx);
    /* Called when a configuration was measured or failed. The result is of kind "configuration" and has the keys of
     * `configurations` of a profile: "batch", "mean_ms", "latency.p95", "error". It lives during the call. */
    void (*measured)(void *ctx, const struct assay_result *configuration);
    /* Looked at as often as `cancelled` is called: another value than 0 ends the call. For callers whose functions
     * are too slow to be called while a run is timed. */
    const volatile int *stop;
} assay_hooks;

/* Hooks for calls that take none of their own: assay_analyze() with "advice", assay_export(), assay_map(),
 * assay_fuse(), assay_scale(), assay_validate(). Such a call ends with ASSAY_ERR_INTERRUPTED and no result when a
 * hook says so. Borrowed until other hooks, or NULL, are set. */
ASSAY_API assay_status assay_options_hooks(assay_options *options, const assay_hooks *hooks,
                                           assay_error *err);

/* One option. Texts are static. */
typedef struct assay_option_info {
    size_t size;
    const char *name;
    const char *value; /* stands for the value in help: "N", "NAME=N", "a|b"; NULL: a flag */
    const char *about; /* one sentence */
    bool repeatable;
    char letter;       /* short form on the command line, or 0 */
    const char *topic; /* heading in help: "Model" */
    /* Commands that take it, separated by spaces; "": only callers of the library set it. "@model" (analyse a model),
     * "@run" (run one), "@screen" (draw on the console) and "@page" (write HTML) are classes of commands. */
    const char *commands;
    const char *values;  /* for completion: "fp32|fp16", a set such as "@files", or "" */
    const char *formats; /* output formats that it shapes: "csv"; "": it shapes the result */
    const char *needs;   /* it has no effect without one of these: "measure|baseline"; or "" */
    double min, max;     /* of a number; both 0: there is no range */
    char initial[24];    /* default of a number or a choice, or "" */
} assay_option_info;

/* The index-th option, from 0; false past the end. */
ASSAY_API bool assay_option_at(size_t index, assay_option_info *out);

/* ---- results --------------------------------------------------------------------------------- */

/* What a call found out: one JSON document (docs/json.md lists every key). Kinds are
 *
 *     "profile"      one model: assay_analyze(), assay_measure(), assay_map(), assay_fuse(), assay_watch()
 *     "pipeline", "language", "pipelines"            assay_pipeline(), assay_pipelines()
 *     "scaling"      assay_scale()
 *     "comparison"   assay_compare()
 *     "check"        assay_check()
 *     "capacity"     assay_capacity()
 *     "validation"   assay_validate()
 *     "machine"      assay_machine_measure(), assay_machine_open()
 *     "records", "models", "trend"                   assay_store_list(), _models(), _trend()
 *
 * Freed by assay_result_free(). */
typedef struct assay_result assay_result;

/* The static profile of a model: parameters, MACs, FLOPs, bytes, memory plan, layers, bottlenecks. Nothing is run and
 * no weights are read. The result is independent of the model. With the option "strict", anything assumed or unknown
 * is ASSAY_ERR_UNSUPPORTED, and *out is set all the same. */
ASSAY_API assay_status assay_analyze(assay_model *model, const assay_options *options,
                                     assay_result **out, assay_error *err);
ASSAY_API void assay_result_free(assay_result *result);
/* The kind, as listed above. Never NULL. */
ASSAY_API const char *assay_result_kind(const assay_result *result);

/* Reads a result that was written as "json". `kind` is what it must be; NULL: any. Keys that this version does not
 * know are kept for writing and for a history. ASSAY_ERR_MALFORMED: it is no result, or of another kind; err->node
 * and err->offset say where. ASSAY_ERR_UNSUPPORTED: a later major version wrote it. */
ASSAY_API assay_status assay_result_read(const char *path, const char *kind, assay_result **out,
                                         assay_error *err);
/* The same for text in memory, which is copied. `name` is what messages call it. */
ASSAY_API assay_status assay_result_from_json(const void *json, size_t n, const char *name,
                                              const char *kind, assay_result **out,
                                              assay_error *err);

#define ASSAY_SCHEMA_BYTES 64
/* The schema that a JSON file states, without its version: "assay.profile"; "": it states none. Tells results from
 * other JSON files without reading them whole. ASSAY_ERR_MALFORMED: it is no JSON object. */
ASSAY_API assay_status assay_result_schema(const char *path, char schema[ASSAY_SCHEMA_BYTES],
                                           assay_error *err);

/* ---- values of a result ---------------------------------------------------------------------- */

typedef enum assay_type {
    ASSAY_NONE,    /* unknown, or not part of this result */
    ASSAY_BOOL,    /* truth */
    ASSAY_WHOLE,   /* whole: a number from 0, exact */
    ASSAY_INTEGER, /* integer: a whole number below 0 */
    ASSAY_REAL,    /* real */
    ASSAY_TEXT,    /* text */
    ASSAY_LIST,    /* count items */
    ASSAY_OBJECT   /* count members */
} assay_type;

typedef struct assay_value {
    size_t size;
    assay_type type;
    bool truth;        /* of ASSAY_BOOL */
    uint64_t whole;    /* of ASSAY_WHOLE */
    int64_t integer;   /* of ASSAY_INTEGER */
    double real;       /* of every number and ASSAY_BOOL (0 or 1); NaN for the others */
    const char *text;  /* of ASSAY_TEXT; lists of shapes and the like have their JSON here */
    size_t count;      /* of ASSAY_LIST and ASSAY_OBJECT */
    const char *key;   /* in the object or map that holds it: "p95" */
    const char *unit;  /* "ms", "bytes", "FLOPs", "%", ...; "": a count, or no number */
    const char *label; /* for people: "Peak memory" */
    const char *about; /* one sentence */
} assay_value;

/* The value at a path: keys of docs/json.md, joined by dots. Items of a list are numbers from 0. "" is the whole
 * result.
 *
 *     "total_macs"                          "latency.p95"
 *     "layers.3.name"                       "config.inputs.0.shape.1"
 *     "batch_profiling.4.timing.p95_ms"     "configurations.0.samples_per_second"
 *
 * ASSAY_ERR_USAGE: this kind of result has no such key. A key that this result does not fill, and an item past the
 * end of a list, is ASSAY_OK with type ASSAY_NONE. */
ASSAY_API assay_status assay_result_get(const assay_result *result, const char *path,
                                        assay_value *out, assay_error *err);
/* The index-th item of the list, or member of the object, at a path; false past the end. Walks a result without
 * knowing its keys. */
ASSAY_API bool assay_result_item(const assay_result *result, const char *path, size_t index,
                                 assay_value *out);
/* How many items or members are at a path; 0 when there is no list or object. */
ASSAY_API size_t assay_result_count(const assay_result *result, const char *path);
/* The number at a path; NaN when there is none. Exact up to 2^53; assay_result_get() is exact beyond. */
ASSAY_API double assay_result_number(const assay_result *result, const char *path);
/* The text at a path; "" when there is none. */
ASSAY_API const char *assay_result_text(const assay_result *result, const char *path);

/* ---- reports --------------------------------------------------------------------------------- */

/* Writes a result as text. Every kind has "console", "json", "csv", "md", "html" and "summary-html" (a fragment
 * without script). A profile also has "trace", a check "junit" and "github", pipelines "generation-config". Options
 * that shape it: "top", "depth", "verbose", "columns", "color", "ascii", "rows" (of CSV), "no-graphs", "no-details".
 * `text` ends with a NUL that `n` does not count; free it with assay_free().
 * ASSAY_ERR_USAGE: the kind has no such format. ASSAY_ERR_UNSUPPORTED: the library was built without the page. */
ASSAY_API assay_status assay_result_write(const assay_result *result, const char *format,
                                          const assay_options *options, char **text, size_t *n,
                                          assay_error *err);
/* From 1 to 64 results of any kinds in one text: "html", "md", "console" or "summary-html". One result may have any
 * of its formats. */
ASSAY_API assay_status assay_results_write(const assay_result *const *results, size_t n_results,
                                           const char *format, const assay_options *options,
                                           char **text, size_t *n, assay_error *err);
/* The page of the dashboard, which asks the server that it came from for everything (docs/serve.md). Free the text
 * with assay_free(). */
ASSAY_API assay_status assay_dashboard(char **text, size_t *n, assay_error *err);
/* Licences of what the page is made of; "": the library was built without it. */
ASSAY_API const char *assay_page_licenses(void);

/* The format that a file name means: "json" for "x.json"; NULL: none. */
ASSAY_API const char *assay_format_of(const char *path);

/* A format of a profile. Texts are static. */
typedef struct assay_format_info {
    size_t size;
    const char *name, *suffix, *about;
} assay_format_info;
/* The index-th format, from 0; false past the end. */
ASSAY_API bool assay_format_at(size_t index, assay_format_info *out);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct assay_export_info {
    size_t size;
    uint64_t model_bytes, data_bytes; /* of FILE and of FILE.data; 0: there is no second file */
    uint64_t tensors, random_tensors; /* weights and tables; those of them that are random */
} assay_export_info;

/* Writes a model as an ONNX file, whole or not at all. Weights come from the file that the model came from. What that
 * lacks, and all weights of a built-in architecture, are random and depend on "seed" and their names alone.
 * Options: "opset" (built-in: 17 by default; a file: its own, another where its operators allow, which changes
 * `model`), "seed", "precision", "external-data", "holes", "set", "input-shape", "batch". `out` may be NULL. */
ASSAY_API assay_status assay_export(assay_model *model, const char *path,
                                    const assay_options *options, assay_export_info *out,
                                    assay_error *err);

/* A file that appears whole or not at all. Open it before the work: parent folders are made, and a path that cannot
 * be written fails at once. An existing file stays as it was until the commit. */
typedef struct assay_output assay_output;
ASSAY_API assay_status assay_output_open(const char *path, assay_output **out, assay_error *err);
/* Writes `n` bytes and commits. Frees the output in any case. */
ASSAY_API assay_status assay_output_commit(assay_output *output, const void *p, size_t n,
                                           assay_error *err);
/* Frees the output and writes nothing. */
ASSAY_API void assay_output_abandon(assay_output *output);
/* Appends to a file that other programs write to as well; makes it when it is not there. */
ASSAY_API assay_status assay_output_append(const char *path, const void *p, size_t n,
                                           assay_error *err);
/* Reads a file of at most max_bytes. The text ends with a NUL; free it with assay_free(). */
ASSAY_API assay_status assay_file_read(const char *path, size_t max_bytes, char **text, size_t *n,
                                       assay_error *err);

/* ---- what the library knows ------------------------------------------------------------------ */

/* An operator that is counted. Texts are static. */
typedef struct assay_op_info {
    size_t size;
    const char *domain, *name, *type;
    const char *versions; /* opsets: "1-13,14" */
    const char *formula;  /* of its cost */
} assay_op_info;
/* The index-th operator, from 0; false past the end. */
ASSAY_API bool assay_op_at(size_t index, assay_op_info *out);

/* A convention of counting FLOPs, for the option "lens". Texts are static. */
typedef struct assay_lens_info {
    size_t size;
    const char *name, *unit, *about;
} assay_lens_info;
/* The index-th convention, from 0; false past the end. */
ASSAY_API bool assay_lens_at(size_t index, assay_lens_info *out);

/* One check of the installation. */
typedef struct assay_doctor_check {
    size_t size;
    const char *name;
    bool ok;
    char detail[512]; /* what was found, or what to do */
    bool optional;    /* only some commands need it: the engine, image formats */
} assay_doctor_check;
/* Runs the index-th check, from 0; false past the end. */
ASSAY_API bool assay_doctor(size_t index, assay_doctor_check *out);

#ifdef __cplusplus
}
#endif
#endif
