/* Measurements as plain data: the part of a profile that comes from the clock and the system.
 *
 * Times are milliseconds, sizes bytes. A number that the system does not report is NaN (doubles) or PROFILE_NOT_TOLD
 * (sizes). All pointers are in the profile's arena.
 */
#ifndef PROFILE_MEASURED_H
#define PROFILE_MEASURED_H

#include <math.h>

#include "base/str.h"
#include "profile/bands.h"
#include "profile/generation.h"
#include "profile/shape.h"

#define PROFILE_NOT_TOLD UINT64_MAX

typedef struct profile_outlier {
    uint64_t run; /* the first that counts is 1: of the sample at run - 1 */
    double ms;
    const char *cause; /* "steal", "context switches", "major faults", ... or "unknown" */
} profile_outlier;

/* Resident memory of this process, and the engine's arena. */
typedef struct profile_resident {
    uint64_t before, after, run_peak, average; /* of the runs, warm-up included */
    uint64_t before_session,
        peak;              /* from before the session was made to the end; 0: not reported */
    uint64_t engine_bytes; /* that the engine took, loaded and used once; part of before_session */
    uint64_t before_anon, peak_anon, before_file, peak_file; /* anonymous and file-backed apart */
    uint64_t arena_in_use, arena_requested, arena_held, arena_peak; /* or NOT_TOLD */
    uint64_t plan_activations; /* what the static plan says for this size */
    double fragmentation;      /* unused share of the arena's memory; or NaN */
    /* profile_settle() */
    bool present, has_mb;                                   /* the figures are this model's own */
    uint64_t used_peak, used_average, used_anon, used_file; /* above what was there before */
    uint64_t used_run;                                      /* of the runs alone */
    uint64_t per_sample;                                    /* or NOT_TOLD */
    double before_mb, after_mb, peak_mb, activation_mb;
} profile_resident;

/* Of a GPU while the runs went on. NaN or NOT_TOLD: not reported, or there is none. */
typedef struct profile_gpu_use {
    double percent, percent_max; /* of the time that a kernel ran */
    double memory_percent;       /* of the time that memory was read or written */
    double power_w, power_max_w, temperature_max_c;
    uint64_t memory_peak, memory_total, process_peak;
} profile_gpu_use;

#define PROFILE_GPU_UNKNOWN                                                            \
    {                                                                                  \
        .percent = NAN, .percent_max = NAN, .memory_percent = NAN, .power_w = NAN,     \
        .power_max_w = NAN, .temperature_max_c = NAN, .memory_peak = PROFILE_NOT_TOLD, \
        .memory_total = PROFILE_NOT_TOLD, .process_peak = PROFILE_NOT_TOLD             \
    }

/* Device activity in a run, from the engine's trace. */
typedef struct profile_gpu_event {
    str name;
    bool copy;      /* of memory; else a kernel */
    uint64_t count; /* in all profiled runs */
    double time_ms; /* of one run */
} profile_gpu_event;

typedef struct profile_gpu {
    bool present; /* profile_settle(): there is something to say */
    bool available;
    str name, driver;
    str why; /* it is not available: a sentence */
    uint64_t devices;
    bool ranges; /* NVTX ranges are marked */
    const profile_gpu_event *events;
    uint32_t n_events;
} profile_gpu;

/* Counters that only grow; or NOT_TOLD. */
typedef struct profile_io {
    uint64_t read_bytes, written_bytes; /* of the disk */
    uint64_t read_chars, written_chars; /* through system calls */
    /* Of the whole network namespace, all interfaces but loopback. */
    uint64_t network_rx_bytes, network_tx_bytes;
} profile_io;
#define PROFILE_IO_UNKNOWN                                                         \
    {                                                                              \
        .read_bytes = PROFILE_NOT_TOLD, .written_bytes = PROFILE_NOT_TOLD,         \
        .read_chars = PROFILE_NOT_TOLD, .written_chars = PROFILE_NOT_TOLD,         \
        .network_rx_bytes = PROFILE_NOT_TOLD, .network_tx_bytes = PROFILE_NOT_TOLD \
    }
/* Of every counter what it grew by; a counter that one of the two does not have is unknown. */
profile_io profile_io_between(const profile_io *before, const profile_io *after);

typedef struct profile_use {
    bool present; /* measured at all */
    double wall_s, cpu_s;
    double cpu_percent; /* CPU time over wall time: 200 is two whole cores; NaN: too short to
                         * tell */
    double cpu_percent_per_thread; /* profile_settle(); NaN: the number of threads is unknown */
    int threads; /* that could work: the engine's and the callers'; 0: the engine chose */
    uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
    double run_queue_wait_s; /* ready, and waiting for a CPU; NaN: not reported */
    double load;             /* average of the last minute; NaN: not reported */
    str busy;                /* the machine was too busy: the evidence; empty: it was not */
    profile_io io;
    double steal_percent;                    /* of all processors' time; or negative */
    double energy_j;                         /* RAPL package; or negative */
    double frequency_mhz, frequency_min_mhz; /* average and lowest seen; or negative */
    profile_gpu_use gpu;
    double instructions, instructions_min,
        instructions_max; /* of a run: median, fewest, most; or 0 */
    double pulse_us;      /* of a fixed loop, before and after the runs: measure/pulse.h; or 0 */
} profile_use;

typedef struct profile_memory_sample {
    double ms; /* since the session was begun */
    uint64_t resident, anon, file;
} profile_memory_sample;

/* Outputs on the same inputs against those of the model as it is stored. */
typedef struct profile_output_error {
    bool present;
    double max_abs, mean_abs;
    double relative;               /* |a - b| / |a|, Euclidean; NaN: the reference is all zeros */
    double cosine;                 /* NaN: one of the two is all zeros */
    uint64_t elements, not_finite; /* compared, and left out because NaN or infinite */
    uint32_t left_out; /* outputs of whole numbers, or of another size than the reference's */
} profile_output_error;

/* One configuration: a batch size at a precision. */
typedef struct profile_config {
    uint64_t batch;
    str precision;    /* "fp32", ... */
    const char *code; /* of the failure: "memory", "engine", "precision", "shape"; NULL: it ran */
    str error;        /* the sentence; or empty */
    bool partial;     /* interrupted on the way */
    profile_stats latency;
    const double *samples_ms;
    uint32_t n_samples;
    const profile_outlier *outliers;
    uint32_t n_outliers;
    uint64_t warmup_runs;
    uint64_t steady_after;   /* of them, until timings were steady and stayed so; 0: not reported */
    const double *warmup_ms; /* each one's duration, in order */
    uint32_t n_warmup_ms;    /* 0: not reported */
    bool steady;             /* the warm-up ended because timings were */
    /* batch * runs / time: of the whole loop when there is concurrency; negative: of nothing, or not reported */
    double samples_per_second;
    double load_ms, session_ms,
        first_run_ms;       /* cold start: engine, session, first run; or negative */
    double pre_ms, post_ms; /* of image inputs; or negative */
    profile_resident memory;
    profile_use use;
    /* Achieved: our FLOPs and bytes over the median; negative: not reported, or an open loop. */
    double gflops_per_s, gbytes_per_s;
    /* Of this machine's measured ceilings (float32, DRAM); negative: `assay machine` has not measured them. */
    double percent_of_peak, percent_of_bandwidth;
    /* A training step of this size with AdamW in float32, and what of it is activations; 0: not known. */
    uint64_t plan_training, plan_training_activations;
    uint64_t file_bytes; /* of the model that was run, on disk with its weights; 0: not known */
    profile_output_error output_error;  /* of other precisions than the stored one */
    const profile_memory_sample *curve; /* resident memory over time, from before the session on */
    uint32_t n_curve;
    /* profile_settle() */
    str batch_key;      /* "4" */
    bool ran, detailed; /* detailed: its sections are not those at the top */
    double fps;         /* batch * 1000 / mean */
    bool has_end_to_end;
    double end_to_end_ms;
    config_bands bands;
    struct {
        double images, tokens, requests; /* per second; NaN: of another unit */
        const char *name;
        double per_sample;
    } units;
} profile_config;

/* A configuration of which nothing is known yet: nothing is zero that was not measured. */
#define PROFILE_CONFIG_UNKNOWN                                                       \
    {                                                                                \
        .samples_per_second = NAN, .fps = NAN, .load_ms = NAN, .session_ms = NAN,    \
        .first_run_ms = NAN, .pre_ms = NAN, .post_ms = NAN, .end_to_end_ms = NAN,    \
        .gflops_per_s = NAN, .gbytes_per_s = NAN, .percent_of_peak = NAN,            \
        .percent_of_bandwidth = NAN,                                                 \
        .units = {.images = NAN, .tokens = NAN, .requests = NAN, .per_sample = NAN}, \
        .latency = {.ci95_low = NAN, .ci95_high = NAN},                              \
        .memory = {.arena_in_use = PROFILE_NOT_TOLD,                                 \
                   .arena_requested = PROFILE_NOT_TOLD,                              \
                   .arena_held = PROFILE_NOT_TOLD,                                   \
                   .arena_peak = PROFILE_NOT_TOLD,                                   \
                   .per_sample = PROFILE_NOT_TOLD,                                   \
                   .used_run = PROFILE_NOT_TOLD,                                     \
                   .fragmentation = NAN},                                            \
        .output_error = {.relative = NAN, .cosine = NAN}, .use = {                   \
            .cpu_percent = NAN,                                                      \
            .cpu_percent_per_thread = NAN,                                           \
            .run_queue_wait_s = NAN,                                                 \
            .load = NAN,                                                             \
            .io = PROFILE_IO_UNKNOWN,                                                \
            .steal_percent = NAN,                                                    \
            .energy_j = NAN,                                                         \
            .frequency_mhz = NAN,                                                    \
            .frequency_min_mhz = NAN,                                                \
            .gpu = PROFILE_GPU_UNKNOWN,                                              \
        }                                                                            \
    }

/* Where the time of a run went: the lines sum to run_ms. */
typedef struct profile_kernel { /* a kernel of the engine without a layer of the model */
    str name, op;
    double time_ms;
} profile_kernel;

typedef struct profile_time_group { /* layers whose time is summed: time_groups.h */
    const char *by;                 /* "type", "module" or "pattern" */
    str name;
    uint64_t layers;             /* that were timed */
    double time_ms, time_std_ms; /* of one run; a deviation of NaN: unknown */
    uint64_t flops, memory;
    double percent, gflops_per_s, gbytes_per_s; /* profile_settle() */
    bool compute_bound;                         /* profile_settle() */
} profile_time_group;

typedef struct profile_ledger {
    bool present;
    uint64_t runs, warmup_runs;
    double run_ms;         /* a profiled run without the profiler's own cost */
    double layers_ms;      /* booked to layers of the model */
    double engine_ms;      /* kernels of the engine's own: layout changes, copies */
    double dispatch_ms;    /* between kernels, by the engine */
    double unexplained_ms; /* what remains */
    double bias_us;        /* that the profiler adds to each kernel; subtracted */
    double overhead_us;    /* that it adds between kernels, for each; subtracted */
    double latency_ms;     /* median of the runs without the profiler */
    uint64_t kernels, fused_kernels, unmapped_layers;
    const profile_kernel *engine_kernels;
    uint32_t n_engine_kernels;
    const profile_time_group *groups;
    uint32_t n_groups;
} profile_ledger;

/* The memory plan against a run without optimisations: what the engine requested, kernel by kernel. */
typedef struct profile_moment_measured {
    str node;
    uint64_t requested; /* activations in use when the kernel had ended */
    uint64_t planned;   /* by the plan over the same order; or NOT_TOLD */
} profile_moment_measured;

/* A step from the planned peak to the measured one: plan_ledger.h. */
typedef struct plan_ledger_row {
    const char *cause; /* its name in JSON */
    const char *text;  /* for display; of the cause with that sign */
    int64_t bytes;     /* what it adds, or saves when negative */
    uint64_t total;    /* with all rows before it */
} plan_ledger_row;
#define PLAN_LEDGER_MAX 8

typedef struct profile_plan_check {
    bool present;
    uint64_t planned_peak, measured_peak; /* of activations */
    /* The steps from the one to the other, each with what those before it have: operators as the engine has them; the
     * engine's order; only those kernels in place that are in the engine; dead buffers that the engine keeps for
     * later. 0: not reported, by a result of an older version. */
    uint64_t planned_expanded, planned_in_order, planned_as_run, planned_with_kept;
    /* The run that gives dead tensors back at once and works nowhere in place, and the plan by that rule. */
    uint64_t planned_no_reuse, measured_no_reuse;
    uint64_t
        workspace; /* of kernels, and rounding: what the arena's peak has beyond; or NOT_TOLD */
    str peak_node; /* of the measured one */
    const profile_moment_measured *moments;
    uint32_t n_moments;
    uint64_t shapes_checked,
        shapes_equal;  /* outputs whose size the engine reported, and the inferred ones */
    str first_unequal; /* node; or empty */
    plan_ledger_row steps[PLAN_LEDGER_MAX]; /* profile_settle() */
    uint32_t n_steps;
    double excess_percent; /* profile_settle(): of the measured peak above the planned one; NaN */
} profile_plan_check;

/* Ceilings of the machine that ran the model, measured by `assay machine`. */
typedef struct profile_level {
    str name; /* "L1", "L2", "L3", "DRAM" */
    double bytes_per_s;
} profile_level;

typedef struct profile_ceilings {
    bool present;
    str name;     /* of the processor */
    str measured; /* when */
    str dtype;    /* of ops_per_s: "float32" */
    uint64_t threads;
    double ops_per_s;
    const profile_level *levels; /* fastest first; memory is the last */
    uint32_t n_levels;
} profile_ceilings;

typedef struct profile_setting {
    str key, value;
} profile_setting;

typedef struct profile_engine {
    bool present;
    str name, title, version, library;
    str device; /* where it ran */
    int threads, opt_level;
    bool spin;
    const profile_setting *settings; /* --provider-option, as they were given */
    uint32_t n_settings;
    /* How it was used; profile_settle() takes them from the measurement. */
    uint64_t concurrency, seed;
    double rate;
    bool interleaved;
} profile_engine;

/* Which configuration to run for throughput, and why: batch_choice.h. */
typedef struct profile_batch_choice {
    uint64_t batch; /* 0: none */
    str precision;
    double samples_per_second;
    uint64_t
        fastest_batch; /* of those that fit the memory; the chosen one unless it ties with it */
    str fastest_precision;
    double fastest_samples_per_second;
    uint64_t room_bytes; /* memory there was to choose within; 0: not known */
    str why;             /* a sentence; empty: not reported */
    bool present;        /* profile_settle(): the reason is there */
    uint64_t tie_percent;
} profile_batch_choice;

/* What waits for what in a profiled run: measure/blocking.h. */
typedef struct profile_wait { /* of one layer; times since the run began */
    str layer, type;
    str waits_for; /* the layer whose result came last; empty: inputs of the model alone */
    double time_ms;
    double ready_ms, start_ms, end_ms; /* its last input was there; it began; it ended */
    double queued_ms;                  /* ready, while the engine ran other layers */
    bool critical;                     /* on the critical path */
} profile_wait;

typedef struct profile_thread_wait {
    str thread;
    double wait_ms; /* of a run */
    double percent; /* of it */
} profile_thread_wait;

typedef struct profile_blocking {
    bool present;
    double layers_ms;   /* of all layers, one after the other */
    double critical_ms; /* of the critical path */
    uint64_t critical_layers;
    double
        parallelism; /* the one over the other: what running branches at once could gain at most */
    const profile_wait *layers; /* in the order of the graph */
    uint32_t n_layers;
    const profile_thread_wait *threads;
    uint32_t n_threads;
} profile_blocking;

/* Cold starts, each in a new process: `bench --cold N`. */
typedef struct profile_cold_part {
    const char *part; /* "engine", "session", "first run", "total" */
    double mean_ms, std_ms, min_ms, median_ms, p95_ms, max_ms;
    const double *samples_ms; /* in order */
    uint32_t n_samples;
} profile_cold_part;
#define PROFILE_COLD_PARTS 4

typedef struct profile_cold {
    bool present;
    uint64_t starts;
    uint64_t batch;
    str precision;
    const profile_cold_part *parts;
    uint32_t n_parts;
} profile_cold;

typedef struct profile_measured {
    profile_engine engine;
    str governor;     /* of the processor's clock; or empty */
    const char *unit; /* "images", "tokens", "requests", "samples" */
    double units_per_sample;
    uint64_t concurrency;
    double rate; /* requests per second of an open loop; 0: closed */
    uint64_t seed;
    bool interrupted;
    bool interleaved; /* its runs took turns with another model's */
    str stopped;      /* why the sweep ended early; or empty */
    profile_config *configs;
    uint32_t n_configs;
    profile_ledger ledger;
    profile_plan_check plan;
    profile_ceilings ceilings;
    profile_gpu gpu;
    profile_batch_choice choice;
    profile_cold cold;
    profile_blocking blocking;
    const profile_generation *generation; /* of a language model on llama.cpp */
    uint32_t n_generation;
    /* profile_settle() */
    bool has_top;
    profile_config top;            /* a copy of the smallest batch that ran */
    profile_shape single_shape;    /* of the first input, at that batch */
    const profile_config *batches; /* the first of each batch size; copies */
    uint32_t n_batches;
} profile_measured;

#endif
