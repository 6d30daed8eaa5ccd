/* Values of the options of a command, one struct per topic. rows.h has the rows that describe, parse and check
 * them. */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include <assay/assay.h>

#include "analyze/count.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/tensor_file.h"
#include "measure/load_endpoint.h"
#include "profile/profile.h"
#include "profile/verdicts.h"
#include "study/model_options.h"
#include "study/scaling_options.h"

enum { JOB_SNAPSHOTS_MOST = 64 }; /* that --at may ask for */
enum { JOB_PRICES_MOST = 64 };    /* --price, each with one or several */
#define JOB_PRECISION "fp32"      /* of a configuration that names none */

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

/* Called by an analysis with its inferred and counted data, which is valid during the call. */
typedef struct job_beside {
    assay_status (*take)(void *ctx, infer_result *r, const counted *of, const profile *p,
                         assay_error *err);
    void *ctx;
} job_beside;

typedef struct analysis_options {
    const lens *lens;
    bool all_lenses, training, patterns, advice, no_advice, live;
    double threshold;  /* 0: the usual */
    bool allocations;  /* the memory plan in full */
    VEC(str) at;       /* layers whose snapshot is requested */
    bool as_built;     /* in the graph's own types, as an engine runs them, not the native ones */
    bool advise_later; /* an analysis on the way to more: only what advice needs is kept */
    job_beside beside; /* of the analysis on the way to more; or nothing */
} analysis_options;

typedef struct hardware_options {
    str names, goal, runtime, task, fit;
    VEC(str) prices;       /* price_read() */
    bool quick, calibrate; /* of measuring this machine */
} hardware_options;

typedef struct fusion_options {
    bool wanted, against_engine;
    int strategy; /* fuse_strategy */
} fusion_options;

typedef struct measure_options {
    VEC(int64_t) batch_sizes;
    VEC(job_config) configs;
    VEC(job_input) inputs;
    int64_t num_runs, warmup_runs, concurrency;
    int64_t cold;                            /* starts in new processes; 0: none */
    double duration, precision_target, rate; /* seconds, percent, per second */
    double interval_ms;                      /* of watch; 0: its own */
    uint64_t memory_limit;                   /* bytes; 0: what is free */
    str unit, layer_patterns, save_outputs;
    VEC(int64_t) depths; /* tokens in the cache before decoding, on llama.cpp */
    int flash;           /* 0: the engine decides, 1: on, 2: off */
    bool runs_given;     /* --num-runs, --warmup-runs: set by the caller */
    bool warmup_given;
} measure_options;

typedef struct run_engine_options {
    str device, name, library;
    str threads_list; /* of a sweep; else empty */
    int64_t threads, opt_level;
    bool no_spin, no_nvtx;
    int gpu_events; /* gpu_wanted */
    VEC(job_setting) provider_options;
} run_engine_options;

typedef struct check_options {
    VEC(verdict_limit) limits;
    VEC(verdict_limit) budget;         /* of comparisons */
    VEC(const metric_row *) metrics;   /* compared with a baseline; none: the usual ones */
    double tolerance;                  /* percent */
    VEC(verdict_tolerance) tolerances; /* of single metrics */
} check_options;

typedef struct capacity_options {                               /* 0: not given */
    double target_rate, latency_quantile, latency_ms, headroom; /* per s, 0 to 1, ms, percent */
} capacity_options;

enum { LENGTH_DRAWN = -1 }; /* of prompt_tokens and generate: a distribution, of load */

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
    str quant;           /* of GGUF; empty: the type that the weights are published in */
    uint64_t disk_limit; /* bytes of a GGUF file; 0: what is free */
} export_options;

typedef struct sweep_options {
    str name, precisions, node_classes; /* the last two are lists */
    int64_t repeat;
} sweep_options;

typedef struct view_options {
    int64_t top, depth;
    int64_t columns; /* 0: nobody says */
    bool verbose, color, ascii;
    bool no_graphs, no_details; /* of HTML */
    str part;                   /* of the console: "bench", "layers", ...; empty: everything */
    str rows;                   /* of CSV */
} view_options;

struct assay_options {
    arena *arena;
    const assay_hooks *hooks; /* of calls that take none; borrowed, may be NULL */
    const char **given;       /* by option: value as set last, or NULL; or NULL */
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
    load_options load;
    export_options export;
    sweep_options sweep;
    view_options view;
    str command; /* for the result's context */
};

#endif
