/* assay: the cost of a machine learning model. The core of libassay's C API.
 *
 *     #include <assay/assay.h>
 *     #include <stdio.h>
 *
 *     int main(void)    // cc program.c $(pkg-config --cflags --libs assay)
 *     {
 *         assay_model *model = NULL;
 *         assay_result *profile = NULL;
 *         assay_error err;
 *         if (assay_model_open("resnet50", &model, &err) == ASSAY_OK &&
 *             assay_analyze(model, NULL, &profile, &err) == ASSAY_OK)
 *             printf("%.0f MACs\n", assay_result_number(profile, "total_macs"));
 *         else
 *             fprintf(stderr, "%s\n", err.message);
 *         assay_result_free(profile);
 *         assay_model_free(model);
 *     }
 *
 * A model is opened from a file, from bytes or by a built-in name, and may be analysed several times. Every analysis
 * produces a result. Read the values of a result by path with assay_result_get(). Write it as text with
 * assay_result_write(). assay_result_read() reads results that were written as "json". The other headers include this
 * one:
 *
 *     <assay/measure.h>   run a model on an engine; watch a process
 *     <assay/study.h>     map to devices, fusion, scaling, pipelines, comparison, checks, capacity, validation
 *     <assay/device.h>    the device table; measured ceilings of this machine
 *     <assay/history.h>   results over time, in a database
 *     <assay/sweep.h>     many measurements, on this machine or on a cluster
 *     <assay/sandbox.h>   untrusted models, analysed in a confined process
 *     <assay/mcp.h>       read-only tools for coding assistants (Model Context Protocol)
 *
 * Ownership. Objects are opaque. The caller owns an object that a function returns in an out-parameter and frees it
 * with the function that the type's comment names. Freeing NULL has no effect. Text returned through `char **text` is
 * freed with assay_free(). A returned `const char *` belongs to the object and is valid as long as the object.
 *
 * Errors. A function that can fail returns an assay_status and fills `err`, which may be NULL. Out-parameters are
 * NULL or 0 after a failure unless the function says otherwise. The library never prints, exits or aborts.
 *
 * Threads. The library keeps no global state. Different objects may be used by different threads at the same time.
 * One object must not be used by two threads at once, not even for reading.
 *
 * Structs that the caller allocates begin with `size`. Set it to sizeof the struct; the library accesses only that
 * many bytes, so that later versions can add members. A struct whose size is 0 is refused: ASSAY_ERR_USAGE, or false
 * from a function that returns bool.
 *
 *     assay_value v = {.size = sizeof v};
 *
 * Unknown. Each type has one representation of an unknown or absent value:
 *
 *     double                  NaN
 *     const char *, char[]    ""; never NULL, unless a comment says so
 *     uint64_t, size_t        UINT64_MAX (ASSAY_UNKNOWN)
 *     assay_value             type ASSAY_NONE
 *     assay_error.offset      ASSAY_NO_OFFSET
 *
 * In structs that the caller fills (filters, requests, hooks), 0 and NULL mean "not given".
 *
 * Stability. Functions keep their meaning within a major version. New members are added at the end of structs.
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

/* The version of the loaded library, for example "0.1.0". It may be newer than this header. */
ASSAY_API const char *assay_version(void);
/* The same as a number, in the form of ASSAY_VERSION_NUMBER. */
ASSAY_API int assay_version_number(void);

/* ---- errors ---------------------------------------------------------------------------------- */

/* The values are the exit codes of the command line. */
typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_ERR_SYSTEM = 1,       /* a file cannot be read or written, or out of memory */
    ASSAY_ERR_USAGE = 2,        /* an invalid argument, option or struct size */
    ASSAY_ERR_MALFORMED = 3,    /* a malformed model or result, or one of another kind */
    ASSAY_ERR_UNSUPPORTED = 4,  /* valid but unsupported; shapes contradict; "strict" failed */
    ASSAY_ERR_ENGINE = 5,       /* the engine is missing or failed */
    ASSAY_ERR_THRESHOLD = 6,    /* a limit was missed, or a regression was found */
    ASSAY_ERR_INCONCLUSIVE = 7, /* inconclusive: too much noise or too few data */
    ASSAY_ERR_INTERRUPTED = 130 /* a hook ended the call; see the function for partial results */
} assay_status;

#define ASSAY_NO_OFFSET UINT64_MAX

typedef struct assay_error {
    assay_status code;
    uint64_t offset;   /* position of the error in the file, or ASSAY_NO_OFFSET */
    char node[128];    /* node, value or key concerned; or "" */
    char message[768]; /* what is wrong, where, and what to do */
    int os_error;      /* errno that caused it: ENOMEM, ENOSPC, ...; 0: none */
} assay_error;

/* A short description of a status: "malformed model or result". Never NULL. */
ASSAY_API const char *assay_status_text(assay_status status);
/* Frees text that a function returned through `char **`. */
ASSAY_API void assay_free(void *text);

/* ---- models ---------------------------------------------------------------------------------- */

/* A model: a graph, and the location of its weights. Freed by assay_model_free(). */
typedef struct assay_model assay_model;

/* Opens a model: the path of a file or directory (docs/formats.md lists the formats), or a built-in name. The format
 * is detected from the content. Weights are not loaded; the file stays open. A built-in architecture is built when it
 * is analysed, with the options "set", "input-shape" and "batch".
 * ASSAY_ERR_SYSTEM: the file cannot be read. ASSAY_ERR_USAGE: there is no such model. ASSAY_ERR_MALFORMED,
 * ASSAY_ERR_UNSUPPORTED: the content of the file is invalid or not supported; err->offset is the position. */
ASSAY_API assay_status assay_model_open(const char *model, assay_model **out, assay_error *err);

/* The same for the content of one file in memory. Borrows `bytes` until the model is freed. `name` is its name in
 * results; NULL: "model". `folder` is the directory of the external data of an ONNX model; NULL: external data is
 * refused. Files next to the model, such as the weights of OpenVINO or NCNN, are not read. */
ASSAY_API assay_status assay_model_from_bytes(const void *bytes, size_t n, const char *name,
                                              const char *folder, assay_model **out,
                                              assay_error *err);
ASSAY_API void assay_model_free(assay_model *model);

#define ASSAY_MODEL_INPUTS 4
/* An input at its default shape. */
typedef struct assay_model_input {
    char name[32];   /* truncated if longer */
    int rank;        /* at most 8 */
    int64_t dims[8]; /* the first `rank` are used */
} assay_model_input;

/* A built-in architecture. Texts are static. */
typedef struct assay_model_info {
    size_t size;
    const char *name;
    const char *aliases; /* separated by spaces */
    const char *family, *task;
    const char *
        defaults; /* parameters that differ from those of the family: "block=basic layers=2,2,2,2" */
    /* Set by assay_model_cost(); else 0: */
    uint64_t parameters, flops, macs;
    size_t n_inputs; /* may exceed ASSAY_MODEL_INPUTS; inputs[] has the first ones */
    assay_model_input inputs[ASSAY_MODEL_INPUTS];
} assay_model_info;

/* The index-th built-in architecture, from 0; false past the end. */
ASSAY_API bool assay_model_at(size_t index, assay_model_info *out);
/* The same with its cost at default shapes. Builds and analyses the model, which takes about a millisecond. */
ASSAY_API assay_status assay_model_cost(size_t index, assay_model_info *out, assay_error *err);

/* ---- options --------------------------------------------------------------------------------- */

/* Options of a call. Names are those of the command line without dashes: "input-shape", "dim", "batch", "precision",
 * "training", "strict", "top", "columns", ...; assay_option_at() lists them. Every function that takes options accepts
 * NULL for the defaults and ignores options that do not concern it. Freed by assay_options_free(). */
typedef struct assay_options assay_options;

/* Creates options with default values; NULL: out of memory. */
ASSAY_API assay_options *assay_options_new(void);
ASSAY_API void assay_options_free(assay_options *options);

/* Sets one option; copies `value`. A flag takes "true", "false", or NULL for true. Each call adds a
 * value to a repeatable option and replaces the value of another one. ASSAY_ERR_USAGE: unknown name (the message
 * suggests the nearest one), or invalid value. */
ASSAY_API assay_status assay_options_set(assay_options *options, const char *name,
                                         const char *value, assay_error *err);
/* The last value that was set, as text ("true" for a flag); NULL: the option was not set. For a repeatable option that
 * takes plain words ("price", "at", "sweep"), all values, separated by newlines. Valid until the option is set again or
 * the options are freed. */
ASSAY_API const char *assay_options_get(const assay_options *options, const char *name);

/* An input tensor of the caller. Analyses use its shape; measurements use its data instead of random data. `data` is
 * in row-major order, little-endian, and must stay valid until the options are freed; everything else is copied. If
 * the model's input has another type, the numbers are converted if they fit. At another batch size, samples are
 * omitted or repeated in order. */
typedef struct assay_input {
    size_t size;
    const char *name;  /* NULL or "": the first input without data */
    const char *dtype; /* numpy name: "float32" */
    int rank;
    const int64_t *dims;
    const void *data;
    size_t n_bytes;
} assay_input;
/* ASSAY_ERR_USAGE: the type is unknown, or n_bytes does not match the shape. */
ASSAY_API assay_status assay_options_input(assay_options *options, const assay_input *input,
                                           assay_error *err);

/* Progress of a long call. */
typedef struct assay_progress {
    size_t size;
    const char *what; /* "session", "warm-up", "runs", "layers", ... */
    uint64_t batch;
    const char *precision;
    size_t index, count;    /* current configuration, from 0, and their number */
    uint64_t done, planned; /* runs; milliseconds in assay_machine_measure(); planned 0: unknown */
    double fraction;        /* of this configuration's runs, 0 to 1 */
    double work_after;      /* work of the following configurations, as a multiple of this one's */
} assay_progress;

struct assay_result;

/* Callbacks of a long call. Each may be NULL. */
typedef struct assay_hooks {
    size_t size;
    void *ctx; /* passed to every callback */
    /* Called between runs and evaluations; false ends the call. */
    bool (*progress)(void *ctx, const assay_progress *p);
    /* Called from another thread during a run; true ends the call. */
    bool (*cancelled)(void *ctx);
    /* Called after a configuration was measured or failed. The result has the kind "configuration" and the keys of an
     * item of `configurations` of a profile: "batch", "mean_ms", "latency.p95", "error". It is valid during the
     * callback. */
    void (*measured)(void *ctx, const struct assay_result *configuration);
    /* Polled as often as `cancelled` is called. A value other than 0 ends the call. For callers whose callbacks are
     * too slow to run while a run is timed. */
    const volatile int *stop;
} assay_hooks;

/* Hooks for calls without a `hooks` parameter: assay_analyze() with "advice", assay_export(), assay_map(),
 * assay_fuse(), assay_scale(), assay_validate(). A call that a hook ends returns ASSAY_ERR_INTERRUPTED
 * and no result. `hooks` must stay valid until other hooks, or NULL, are set. */
ASSAY_API assay_status assay_options_hooks(assay_options *options, const assay_hooks *hooks,
                                           assay_error *err);

/* One option. Texts are static. */
typedef struct assay_option_info {
    size_t size;
    const char *name;
    const char *value; /* placeholder of the value in help: "N", "NAME=N", "a|b"; NULL: a flag */
    const char *about; /* one sentence */
    bool repeatable;
    char letter;       /* short form on the command line, or 0 */
    const char *topic; /* heading in help: "Model" */
    /* Commands that accept it, separated by spaces; "": none, it is for callers of the library. "@model" (commands that
     * analyse a model), "@run" (run one), "@screen" (print to the console) and "@page" (write HTML) are classes. */
    const char *commands;
    const char *values;  /* for completion: "fp32|fp16", a set such as "@files", or "" */
    const char *formats; /* output formats that it affects: "csv"; "": it affects the result */
    const char *needs;   /* requires one of these: "measure|baseline"; or "" */
    double min, max;     /* range of a number; both 0: no range */
    char initial[24];    /* default of a number or a choice, or "" */
} assay_option_info;

/* The index-th option, from 0; false past the end. */
ASSAY_API bool assay_option_at(size_t index, assay_option_info *out);

/* ---- results --------------------------------------------------------------------------------- */

/* What an analysis produced: one JSON document (docs/json.md lists the keys of every kind). The kinds are
 *
 *     "profile"      one model: assay_analyze(), assay_measure(), assay_map(), assay_fuse(), assay_watch()
 *     "pipeline", "language", "pipelines"            assay_pipeline(), assay_pipelines()
 *     "scaling"      assay_scale()
 *     "comparison"   assay_compare()
 *     "check"        assay_check()
 *     "capacity"     assay_capacity(), assay_capacity_models()
 *     "validation"   assay_validate()
 *     "load"         assay_load()
 *     "machine"      assay_machine_measure(), assay_machine_open()
 *     "records", "models", "trend"                   assay_store_list(), _models(), _trend()
 *     "changes", "drift", "cheapest"                 assay_store_changes(), _drift(), _cheapest()
 *     "sweep", "sweep_status", "sweep_report"        assay_sweep_plan(), _status(), _report()
 *     "configuration"                                the hook `measured`
 *
 * Freed by assay_result_free(). */
typedef struct assay_result assay_result;

/* The static profile of a model: parameters, MACs, FLOPs, bytes, memory plan, layers, bottlenecks. Nothing is run and
 * no weights are read. The result stays valid after the model is freed. With the option "strict", anything assumed or
 * unknown is ASSAY_ERR_UNSUPPORTED; *out is set nevertheless. */
ASSAY_API assay_status assay_analyze(assay_model *model, const assay_options *options,
                                     assay_result **out, assay_error *err);
ASSAY_API void assay_result_free(assay_result *result);
/* The kind, as listed above. Never NULL. */
ASSAY_API const char *assay_result_kind(const assay_result *result);

/* Reads a result from a file in the format "json". `kind` is the required kind, or several ("profile|load"); NULL: any.
 * Keys that this version does not know are kept and written again. ASSAY_ERR_MALFORMED: not a result, or of another
 * kind; err->node and err->offset are the key and the position. ASSAY_ERR_UNSUPPORTED: written by a later major
 * version. */
ASSAY_API assay_status assay_result_read(const char *path, const char *kind, assay_result **out,
                                         assay_error *err);
/* The same for text in memory, which is copied. `name` is its name in error messages. */
ASSAY_API assay_status assay_result_from_json(const void *json, size_t n, const char *name,
                                              const char *kind, assay_result **out,
                                              assay_error *err);

#define ASSAY_SCHEMA_BYTES 64
/* The key "schema" of a JSON file without its version: "assay.profile"; "": the file has none. Distinguishes results
 * from other JSON files without reading them completely. ASSAY_ERR_MALFORMED: not a JSON object. */
ASSAY_API assay_status assay_result_schema(const char *path, char schema[ASSAY_SCHEMA_BYTES],
                                           assay_error *err);

/* ---- values of a result ---------------------------------------------------------------------- */

typedef enum assay_type {
    ASSAY_NONE,    /* unknown, or not part of this result */
    ASSAY_BOOL,    /* in `truth` */
    ASSAY_WHOLE,   /* a whole number of 0 or more, exact, in `whole` */
    ASSAY_INTEGER, /* a negative whole number, in `integer` */
    ASSAY_REAL,    /* in `real` */
    ASSAY_TEXT,    /* in `text` */
    ASSAY_LIST,    /* of `count` items */
    ASSAY_OBJECT   /* of `count` members */
} assay_type;

typedef struct assay_value {
    size_t size;
    assay_type type;
    bool truth;        /* of ASSAY_BOOL */
    uint64_t whole;    /* of ASSAY_WHOLE */
    int64_t integer;   /* of ASSAY_INTEGER */
    double real;       /* of every number and ASSAY_BOOL (0 or 1); NaN for the others */
    const char *text;  /* of ASSAY_TEXT; of short lists such as shapes, their JSON */
    size_t count;      /* of ASSAY_LIST and ASSAY_OBJECT */
    const char *key;   /* key in the enclosing object: "p95" */
    const char *unit;  /* "ms", "bytes", "FLOPs", "%", ...; "": a count, or not a number */
    const char *label; /* display name: "Peak memory" */
    const char *about; /* description, one sentence */
} assay_value;

/* Reads the value at a path: keys of docs/json.md, joined by dots. Items of a list are numbered from 0. "" is the
 * whole result.
 *
 *     "total_macs"                          "latency.p95"
 *     "layers.3.name"                       "config.inputs.0.shape.1"
 *     "batch_profiling.4.timing.p95_ms"     "configurations.0.samples_per_second"
 *
 * ASSAY_ERR_USAGE: this kind of result has no such key. If this result does not contain the key, or the
 * index is past the end of a list, the call is ASSAY_OK and the type ASSAY_NONE. */
ASSAY_API assay_status assay_result_get(const assay_result *result, const char *path,
                                        assay_value *out, assay_error *err);
/* The index-th item of the list, or member of the object, at a path; false past the end. Lists the keys of a result:
 *
 *     assay_value v = {.size = sizeof v};
 *     for (size_t i = 0; assay_result_item(result, "", i, &v); i++)
 *         printf("%s: %s\n", v.key, v.about); */
ASSAY_API bool assay_result_item(const assay_result *result, const char *path, size_t index,
                                 assay_value *out);
/* The number of items or members at a path; 0 if there is no list or object. */
ASSAY_API size_t assay_result_count(const assay_result *result, const char *path);
/* The number at a path; NaN if there is none. Exact up to 2^53; assay_result_get() is always exact. */
ASSAY_API double assay_result_number(const assay_result *result, const char *path);
/* The text at a path; "" if there is none. */
ASSAY_API const char *assay_result_text(const assay_result *result, const char *path);

/* ---- reports --------------------------------------------------------------------------------- */

/* Writes a result as text. Every kind has "console", "json", "csv", "md", "html", "summary-html" (a fragment
 * without script) and "view" (what a page shows, as JSON: banners, groups of values, tables; every text is ready to
 * print). A profile also has "trace", "netron" and "modelexplorer", a check "junit" and "github", pipelines
 * "generation-config". Options that affect it: "top", "depth", "verbose", "columns", "color", "ascii", "rows" (of CSV),
 * "no-graphs", "no-details". `text` ends with a NUL that `n` does not count. Free it with assay_free().
 * ASSAY_ERR_USAGE: the kind has no such format. ASSAY_ERR_UNSUPPORTED: HTML, and the library was built without it. */
ASSAY_API assay_status assay_result_write(const assay_result *result, const char *format,
                                          const assay_options *options, char **text, size_t *n,
                                          assay_error *err);
/* Writes 1 to 64 results of any kind as one text: "html", "md", "console" or "summary-html". A single result can be
 * written in any of its formats. Free the text with assay_free(). */
ASSAY_API assay_status assay_results_write(const assay_result *const *results, size_t n_results,
                                           const char *format, const assay_options *options,
                                           char **text, size_t *n, assay_error *err);
/* The HTML page of the dashboard, which requests its data from the server that it came from (docs/serve.md). Free the
 * text with assay_free(). */
ASSAY_API assay_status assay_dashboard(char **text, size_t *n, assay_error *err);
/* Licences of the software in the HTML page; "": the library was built without the page. */
ASSAY_API const char *assay_page_licenses(void);
/* The software bill of materials (SBOM) of the library and its programs, as CycloneDX JSON. */
ASSAY_API const char *assay_sbom(void);

/* The format for the suffix of a file name: "json" for "x.json"; NULL: none. */
ASSAY_API const char *assay_format_of(const char *path);

/* An output format of a profile. Texts are static. */
typedef struct assay_format_info {
    size_t size;
    const char *name, *suffix, *about;
} assay_format_info;
/* The index-th format, from 0; false past the end. */
ASSAY_API bool assay_format_at(size_t index, assay_format_info *out);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct assay_export_info {
    size_t size;
    uint64_t model_bytes, data_bytes; /* size of FILE and of FILE.data; 0: no second file */
    uint64_t tensors, random_tensors; /* weights and tables, and how many of them are random */
} assay_export_info;

/* Writes a model as an ONNX file, completely or not at all. Weights are copied from the model's file. Weights that the
 * file does not contain, and all weights of a built-in architecture, are random; they depend only on "seed" and their
 * names. Options: "opset" (default: 17 for a built-in model, else that of the file; another opset changes `model` and
 * must support its operators), "seed", "precision", "external-data", "holes", "set", "input-shape", "batch". `out` may
 * be NULL. */
ASSAY_API assay_status assay_export(assay_model *model, const char *path,
                                    const assay_options *options, assay_export_info *out,
                                    assay_error *err);

/* A file that is written completely or not at all. Freed by assay_output_commit() or assay_output_abandon(). */
typedef struct assay_output assay_output;
/* Opens an output. Call it before long work: a path that cannot be written fails here (ASSAY_ERR_SYSTEM). Creates
 * missing parent directories. An existing file is unchanged until the commit. */
ASSAY_API assay_status assay_output_open(const char *path, assay_output **out, assay_error *err);
/* Writes `n` bytes to the disk. The file is unchanged until the commit. After a failure, abandon the output. */
ASSAY_API assay_status assay_output_write(assay_output *output, const void *p, size_t n,
                                          assay_error *err);
/* Writes `n` more bytes (0: none) and replaces the file. Frees the output, also after a failure. */
ASSAY_API assay_status assay_output_commit(assay_output *output, const void *p, size_t n,
                                           assay_error *err);
/* Replaces `n` files, all of them or none: if one cannot be replaced, the others are restored. Frees the outputs, also
 * after a failure. */
ASSAY_API assay_status assay_output_commit_all(assay_output *const *outputs, size_t n,
                                               assay_error *err);
/* Frees the output and discards what was written to it. */
ASSAY_API void assay_output_abandon(assay_output *output);
/* Appends to a file. Other programs may append to it at the same time. Creates a missing file. */
ASSAY_API assay_status assay_output_append(const char *path, const void *p, size_t n,
                                           assay_error *err);
/* Reads a file of at most max_bytes (and less than 4 GiB). The text ends with a NUL that `n` does not count; free it
 * with assay_free(). ASSAY_ERR_SYSTEM: the file cannot be read. ASSAY_ERR_MALFORMED: it is larger. */
ASSAY_API assay_status assay_file_read(const char *path, size_t max_bytes, char **text, size_t *n,
                                       assay_error *err);

/* ---- tables ---------------------------------------------------------------------------------- */

/* A supported operator. Texts are static. */
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
    char detail[512]; /* finding, or what to do */
    bool optional;    /* required by some commands only: the engine, image formats */
} assay_doctor_check;
/* Runs the index-th check, from 0; false past the end. */
ASSAY_API bool assay_doctor(size_t index, assay_doctor_check *out);

/* A limit on what is read and computed. Texts are static. */
typedef struct assay_limit_info {
    size_t size;
    const char *name, *unit; /* "model-memory", "bytes" */
    uint64_t value;          /* the value in effect */
    const char *about;
    uint64_t most; /* largest value that it can be set to; 0: it is fixed */
} assay_limit_info;
/* The index-th limit, from 0; false past the end. */
ASSAY_API bool assay_limit_at(size_t index, assay_limit_info *out);
/* The environment variable ASSAY_LIMITS sets limits: "model-memory=4GiB,inlined-nodes=10M". Invalid parts are
 * ignored; this function reports the first one (ASSAY_ERR_USAGE). */
ASSAY_API assay_status assay_limits_check(const char *limits, assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
