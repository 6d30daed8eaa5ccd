/* The profile of a model as plain data, filled by analyses and measurements and read by every report. Sections that
 * were not requested are absent (has_ flags or a count of zero). All pointers are in the profile's arena. Units are
 * in the names.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/notes.h"
#include "base/str.h"
#include "ir/dtype.h"
#include "profile/attribute.h"
#include "profile/fusion.h"
#include "profile/mapping.h"
#include "profile/measured.h"
#include "profile/shape.h"
#include "profile/watched.h"

typedef struct profile_tensor {
    str name;
    ir_dtype dtype;   /* IR_UNDEFINED: not known */
    const char *kind; /* "tensor", "sequence", "optional", "map" */
    profile_shape shape;
    const char *
        certainty; /* "exact", "assumed", "unknown" (profile_certainty_name); NULL: an older file */
} profile_tensor;

typedef struct profile_ops { /* the cost vector of ops/op.h, summed over all runs of the node */
    uint64_t mac, add, mul, div, special, cmp, int_ops;
    uint64_t causal_mac, mac_qk, mac_av;
} profile_ops;

/* How sure a layer's figures are, and the type and sizes of a value. */
typedef enum profile_certainty {
    PROFILE_EXACT,
    PROFILE_ASSUMED,
    PROFILE_UNKNOWN,
    PROFILE_USER_DEFINED /* by a rule of --ops, with all sizes known */
} profile_certainty;
const char *profile_certainty_name(profile_certainty c);

typedef struct profile_layer {
    str name, op, type, module;
    const profile_tensor *inputs, *outputs; /* values, absent ones left out */
    uint32_t n_inputs, n_outputs;
    attribute_list attributes;
    bool attributes_told; /* false: of an older file, which says nothing of them */
    uint64_t times;       /* runs per run of the model (loops) */
    uint64_t parameters;
    uint64_t flops; /* by the profile's lens */
    uint64_t macs;
    profile_ops ops;
    uint64_t read_bytes, weight_bytes, written_bytes, memory;
    double arithmetic_intensity;
    bool compute_bound;
    const char *band; /* "strong-compute", "compute", "balanced", "memory" */
    profile_certainty certainty;
    uint64_t live_bytes; /* of the memory plan while it runs */
    /* --training */
    uint64_t backward_flops, backward_macs, saved_bytes;
    /* measured; NaN: not measured */
    double time_ms, time_std_ms;
    /* profile_settle() */
    bool with_training;                                 /* the backward figures are there */
    double gflops_per_s, gbytes_per_s, percent_of_roof; /* NaN: not measured */
} profile_layer;

typedef struct profile_operation { /* one row of the breakdown by type */
    str type;
    uint64_t count, flops, macs, memory, parameters;
    double percent; /* of FLOPs */
} profile_operation;

typedef struct profile_module { /* the module tree, in depth-first order */
    str path, name;
    int depth; /* 0: the model itself */
    uint32_t parent;
    uint64_t layers, parameters, flops, macs, memory;
} profile_module;

typedef struct profile_item { /* one line of the accounting */
    str node, op, reason;
    bool unknown;
} profile_item;

/* Work on constants alone: an engine does it once, when it loads the model. It is in no other figure, but for the FLOPs
 * of conventions whose tool does it in every run. */
typedef struct profile_load_time {
    uint64_t operators, flops, macs;
    uint64_t memory;     /* bytes it moves */
    uint64_t kept_bytes; /* of its results, those that operators read in every run */
} profile_load_time;

typedef struct profile_user_operator { /* a rule of --ops that was used */
    str op, file;
    uint64_t nodes;
} profile_user_operator;

typedef struct profile_accounting {
    uint64_t nodes, exact, assumed, unknown, user_defined, folded;
    const profile_item *items;
    uint32_t n_items;
} profile_accounting;

typedef struct profile_bytes_by_dtype {
    str name;       /* "float32", or what a file of weights calls it: "Q4_K" */
    ir_dtype dtype; /* IR_UNDEFINED for types of a file's own */
    uint64_t elements, bytes;
} profile_bytes_by_dtype;

typedef struct profile_architecture {
    uint64_t total_parameters, trainable_parameters, buffers, parameters_not_in_graph;
    uint64_t weight_bytes; /* parameters + buffers at their stored dtype */
    uint64_t file_size_bytes;
    uint64_t constant_tensors, constant_elements, constant_bytes; /* 0: not counted */
    uint64_t flops, macs, causal_macs;
    uint64_t operators;
    double model_size_mb, gflops, gmacs, flops_per_param; /* profile_settle() */
    const profile_bytes_by_dtype *dtypes;
    uint32_t n_dtypes;
} profile_architecture;

typedef struct profile_weight { /* one tensor of weights whose architecture is not known */
    str name, dtype;
    profile_shape shape;
    uint64_t elements, bytes;
} profile_weight;

typedef struct profile_file {
    str name;
    uint64_t bytes;
} profile_file;

typedef struct profile_property {
    str key, value;
} profile_property;

typedef struct profile_inventory {
    bool present;
    bool alone; /* the architecture is not known: there is nothing else */
    uint64_t tensors, elements, bytes;
    uint64_t training_elements; /* of those: what only training needs */
    const profile_bytes_by_dtype *dtypes;
    uint32_t n_dtypes;
    const profile_file *files;
    uint32_t n_files;
    const profile_weight *largest; /* by bytes, descending; at most PROFILE_LARGEST */
    uint32_t n_largest;
} profile_inventory;
#define PROFILE_LARGEST 1000

typedef struct profile_witness {
    str value, producer;
    uint64_t bytes;
} profile_witness;

typedef struct profile_moment {
    str node;
    uint64_t live_bytes;
} profile_moment;

typedef struct profile_slot { /* where the offset plan puts a tensor */
    str value;
    uint64_t offset, bytes;
    uint32_t from, to; /* steps, inclusive */
} profile_slot;

/* One thing the plan does. Within a step: what is allocated, what shares, and when the layer has run, what
 * is given back. */
typedef struct profile_event {
    const char *kind; /* "allocate", "reuse" (in place), "alias" (a view), "free" */
    str node;         /* the layer of the step */
    str value;        /* of allocate and free, what the buffer was made for */
    str of;           /* of reuse and alias, the value whose buffer it takes; else empty */
    uint32_t step, slot;
    uint64_t bytes, offset, live_bytes; /* live_bytes: after it */
} profile_event;

typedef struct profile_snapshot { /* what is alive while a layer runs */
    const char *kind; /* "start", "peak", "maximum" (of its surroundings), "asked", "end" */
    str node;
    uint32_t step;
    uint64_t live_bytes;
    const profile_witness *values; /* largest first, named by what the buffer was made for */
    uint32_t n_values;
    uint64_t left_out; /* smaller ones beyond PROFILE_SNAPSHOT_VALUES */
} profile_snapshot;
#define PROFILE_SNAPSHOT_VALUES 1000

typedef struct profile_memory_plan {
    uint64_t weights_bytes, activations_peak_bytes, peak_bytes, lower_bound_bytes, planned_bytes;
    double fragmentation; /* profile_settle() */
    str peak_node;
    const profile_moment *timeline; /* one per layer, in execution order */
    uint32_t n_timeline;
    const profile_witness *witnesses; /* what is live at the peak, largest first */
    uint32_t n_witnesses;
    const profile_slot *slots;
    uint32_t n_slots;
    const profile_event *events; /* when they were requested */
    uint32_t n_events;
    const profile_snapshot *snapshots; /* with the events, by step */
    uint32_t n_snapshots;
    const char
        *kv_cache; /* of a decoder: "included" in the peak or "excluded"; NULL: it has none */
} profile_memory_plan;

/* Unused share of the planned block at the peak: holes between live tensors. */
static inline double profile_plan_fragmentation(const profile_memory_plan *m)
{
    return m->planned_bytes > m->activations_peak_bytes
               ? 1 - (double)m->activations_peak_bytes / (double)m->planned_bytes
               : 0;
}

typedef struct profile_optimizer {
    const char *name; /* "sgd", "sgd-momentum", "adam", "adamw", "adamw-mixed" */
    uint64_t bytes_per_param;
    uint64_t weights_bytes, gradients_bytes, states_bytes,
        total_bytes; /* total: with activations */
} profile_optimizer;

typedef struct profile_training {
    bool present;
    uint64_t forward_flops, backward_flops, forward_macs, backward_macs;
    uint64_t saved_activation_bytes;
    profile_optimizer optimizers[5];
    uint32_t n_optimizers;
} profile_training;

typedef struct profile_bottlenecks {
    double threshold;                                   /* FLOPs per byte */
    str hardware;                                       /* whose ridge it is, or empty */
    double compute_bound_percent, memory_bound_percent; /* of FLOPs */
    double compute_bound_layers_percent, memory_bound_layers_percent; /* of layers */
    /* profile_settle() */
    const char
        *limit; /* "compute", "memory" or "both": what most FLOPs wait for; NULL: no layers */
    const char *family;    /* "convolution" or "matmul", where most FLOPs are; NULL: neither */
    double family_percent; /* its share of FLOPs; NaN: there is none */
    bool many_small;       /* compute-bound FLOPs, but most layers only move data */
} profile_bottlenecks;

typedef struct profile_advice {
    const char *id;
    str title, why, expected;
} profile_advice;

typedef struct profile_context {
    str tool_version, timestamp, command, model_sha256;
    str view; /* part of the result that the command shows; empty: all */
    str os, machine, cpu;
    uint64_t cores, memory_bytes;
    profile_engine engine; /* profile_settle() */
    str governor;          /* of the processor's clock; or empty */
} profile_context;

typedef struct profile_batch_axis {
    str input;
    int64_t axis; /* INT64_MIN: the input has none */
} profile_batch_axis;

/* Which dimension of the inputs is the batch. */
typedef struct profile_batch {
    const char *certainty; /* "built", "named", "tried", "likely", "assumed"; NULL: nobody asked */
    bool asked;            /* profile_settle(): certainty is there */
    bool present;          /* some input has one; else a run is one sample */
    str why;               /* a clause */
    const profile_batch_axis *axes; /* of every input */
    uint32_t n_axes;
} profile_batch;

typedef struct profile_image_size {
    int64_t height, width; /* of the first input that is an image; 0: none is */
} profile_image_size;

typedef struct profile_load_figures { /* of a load on an endpoint; NaN: it does not have it */
    double ttft, itl;                 /* P99, milliseconds */
    double goodput, tokens, max_rate; /* per second */
    double error_rate;                /* 0 to 1 */
} profile_load_figures;

typedef struct profile {
    str conclusion; /* one or two sentences: result_conclude() */
    arena *arena;
    str model; /* as the user called it */
    str file;  /* the name of the file that it was read from, without its folder; or empty */
    str format, producer;
    const profile_property *metadata; /* what the file says about itself */
    uint32_t n_metadata;
    str lens;
    str precision;     /* "" when as stored, else "float16", ... */
    str weights_dtype; /* profile_settle(): that, or what most of the weights are */
    str device, config_file;
    str recognised; /* the architecture that weights were recognised as: "resnet50 num_classes=10"; or empty */
    int64_t ir_version, opset;
    profile_context context;
    const profile_tensor *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    profile_batch batch;
    profile_image_size image_size;
    profile_bands bands;         /* profile_settle() */
    const uint64_t *batch_sizes; /* profile_settle(): that were measured */
    uint32_t n_batch_sizes;
    profile_architecture architecture;
    profile_ops ops;
    uint64_t total_flops, total_macs, total_memory, total_parameters, total_operators;
    uint64_t total_read, total_written; /* profile_settle(): the two parts of total_memory */
    double arithmetic_intensity;
    profile_accounting accounting;
    profile_load_time load_time;
    const profile_user_operator *user_operators;
    uint32_t n_user_operators;
    const profile_operation *operations; /* by FLOPs, descending */
    uint32_t n_operations;
    profile_bottlenecks bottlenecks;
    profile_layer *layers;
    uint32_t n_layers;
    const profile_module *modules;
    uint32_t n_modules;
    const profile_tensor *values; /* with verbose: every value of the graph */
    uint32_t n_values;
    profile_memory_plan memory_plan;
    profile_training training;
    profile_inventory inventory; /* of a file of weights */
    profile_measured *measured;  /* NULL: nothing was run */
    profile_watch *watch;        /* NULL: no process was watched */
    profile_mapping *mapping;    /* NULL: not placed on devices */
    profile_fusion *fusion;      /* NULL: not cut into groups */
    profile_potential potential;
    const profile_pattern *patterns;
    uint32_t n_patterns;
    bool has_patterns; /* they were looked for */
    const profile_advice *recommendations;
    uint32_t n_recommendations;
    notes warnings;
    bool anything_assumed;            /* for --strict */
    const profile_load_figures *load; /* NULL: of no endpoint */
    const char *kind;    /* NULL: a model's; "pipeline", "machine", "load": the totals of one
                       * (profile_read_kept()) */
    bool weights_differ; /* the weights on disk do not match the configuration */
    bool
        architecture_changed; /* the size of an input gave weights of a built-in model other shapes */
} profile;

profile *profile_new(size_t limit_bytes); /* NULL if out of memory */
void profile_free(profile *p);

/* Computes everything that follows from other members. Whoever made or changed a profile calls it before the profile
 * is shown, written or walked; twice does no harm. False if out of memory. */
bool profile_settle(profile *p);
/* The same of one configuration. */
bool profile_settle_config(profile_config *c, const profile_measured *m, arena *a);
/* The number type that bytes are counted in: the one they were weighed at, else the one most weights have; empty
 * when the model has no weights. */
str profile_precision(const profile *p);
/* What a plan's kv_cache means for its memory: "no KV cache"; "" for NULL. */
const char *profile_cache_words(const char *kv_cache);
/* How near a measured layer came to what the machine's arithmetic and memory allow at best: the time that they
 * would take over the time that it took. Above 100 where caches held what memory is counted for. NaN: not
 * measured, or nothing is known of the machine. */
double profile_percent_of_roof(const profile *p, const profile_layer *l);

#endif
