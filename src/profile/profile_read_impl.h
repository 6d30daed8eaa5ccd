/* Shared by the profile_read*.c files: the document while it is read. What a profile holds in another form
 * than the file is kept here until the end, when all of it is known. */
#ifndef PROFILE_PROFILE_READ_IMPL_H
#define PROFILE_PROFILE_READ_IMPL_H

#include "profile/profile.h"
#include "profile/read_table.h"

typedef struct doc_config { /* a configuration, or what stands at the top of the document */
    profile_config c;
    uint64_t peak_bytes, average; /* above what was resident before the session */
    bool has_latency, has_memory;
    const char *unit;
    double units_per_sample;
    double unit_images, unit_tokens, unit_requests; /* per second, in older files; or negative */
} doc_config;

typedef struct doc_batch { /* what older files have of a batch: `single_image`, `batch_profiling` */
    str key;
    bool present;
    profile_stats timing;
    double before_mb, after_mb, peak_mb, throughput;
} doc_batch;

typedef struct doc_place {
    str device;
    mapping_row row;
} doc_place;

typedef struct doc_gpu_event {
    profile_gpu_event e;
    const char *kind;
} doc_gpu_event;

typedef struct doc_gpu {
    profile_gpu g;
    const doc_gpu_event *events;
    uint32_t n_events;
} doc_gpu;

typedef struct doc_watch {
    bool present;
    profile_watch w;
    uint64_t exit_code; /* or NOT_TOLD */
} doc_watch;

typedef struct doc {
    profile p;
    const profile_tensor *shapes; /* of inputs, from older files */
    uint32_t n_shapes;
    str precision; /* what most weights are, or what they were weighed as */
    str schema;
    /* measured */
    profile_measured m;
    bool has_engine;
    const uint64_t *batch_sizes;
    uint32_t n_batch_sizes;
    doc_config top;
    doc_batch single;
    const doc_batch *batches;
    uint32_t n_batches;
    const doc_config *configs;
    uint32_t n_configs;
    /* devices */
    bool has_map;
    profile_mapping map;
    const doc_place *places;
    uint32_t n_places;
    const uint64_t *pareto;
    uint32_t n_pareto;
    /* groups */
    bool has_fusion;
    profile_fusion fusion;
    doc_watch watch;
    doc_gpu gpu;
} doc;

#define DOC_CONFIG_START                                                                         \
    {                                                                                            \
        .c = PROFILE_CONFIG_NOT_TOLD, .unit_images = -1, .unit_tokens = -1, .unit_requests = -1, \
        .units_per_sample = -1                                                                   \
    }

/* Rows of the tables: struct, key, member. */
#define ROW_U64(T, k, m)                                 \
    {                                                    \
        .key = k, .kind = READ_U64, .at = offsetof(T, m) \
    }
#define ROW_SIZE(T, k, m)                                                       \
    {                                                                           \
        .key = k, .kind = READ_U64, .at = offsetof(T, m), .null = NULL_NOT_TOLD \
    }
#define ROW_I64(T, k, m, no)                                         \
    {                                                                \
        .key = k, .kind = READ_I64, .at = offsetof(T, m), .null = no \
    }
#define ROW_F64(T, k, m, no)                                         \
    {                                                                \
        .key = k, .kind = READ_F64, .at = offsetof(T, m), .null = no \
    }
#define ROW_BOOL(T, k, m)                                 \
    {                                                     \
        .key = k, .kind = READ_BOOL, .at = offsetof(T, m) \
    }
#define ROW_STR(T, k, m)                                 \
    {                                                    \
        .key = k, .kind = READ_STR, .at = offsetof(T, m) \
    }
#define ROW_WORD(T, k, m)                                 \
    {                                                     \
        .key = k, .kind = READ_WORD, .at = offsetof(T, m) \
    }
#define ROW_OBJECT(T, k, m, t)                                          \
    {                                                                   \
        .key = k, .kind = READ_OBJECT, .at = offsetof(T, m), .of = &(t) \
    }
/* The object's members lie in the struct itself. */
#define ROW_INLINE(k, t)                          \
    {                                             \
        .key = k, .kind = READ_OBJECT, .of = &(t) \
    }
#define ROW_LIST(T, k, m, n, t)                                                                   \
    {                                                                                             \
        .key = k, .kind = READ_LIST, .at = offsetof(T, m), .count_at = offsetof(T, n), .of = &(t) \
    }
#define ROW_MAP(T, k, m, n, t)                                                                   \
    {                                                                                            \
        .key = k, .kind = READ_MAP, .at = offsetof(T, m), .count_at = offsetof(T, n), .of = &(t) \
    }
#define ROW_NUMBERS(T, k, what, m, n)                                            \
    {                                                                            \
        .key = k, .kind = what, .at = offsetof(T, m), .count_at = offsetof(T, n) \
    }
#define ROW_CALL(k, f)                         \
    {                                          \
        .key = k, .kind = READ_CALL, .call = f \
    }

extern const read_table read_context_table; /* doc */
/* The sentence of what failed, with the path of the key. */
assay_status read_failed(const reader *r, const char *shown, uint64_t offset, assay_error *err);

/* The sections of the document; the calls take a doc (profile_read_lists.c). */
extern const read_table read_tensor_table; /* profile_tensor: name, dtype, shape, kind */
extern const read_table read_memory_plan_table, read_training_table, read_inventory_table;
bool read_layers(reader *r, void *doc);
/* (profile_read_attributes.c) */
bool profile_read_attributes(reader *r, profile_layer *l);
bool read_modules(reader *r, void *doc);

/* Members of a doc_config (profile_read_measured.c). */
extern const read_table read_latency_table, read_throughput_table, read_resident_table,
    read_use_table, read_io_table, read_cold_table, read_end_table;
extern const read_table read_config_table; /* doc_config */
extern const read_table read_batch_table;  /* doc_batch */
extern const read_table read_ledger_table, read_plan_table, read_ceilings_table;
/* Puts together what the document says in several places. */
bool read_finish_measured(reader *r, doc *d);

/* (profile_read_map.c) */
extern const read_table read_place_table; /* doc_place */
extern const read_table read_map_table;   /* doc */
bool read_finish_map(reader *r, doc *d);

/* (profile_read_fusion.c) */
extern const read_table read_group_table;  /* fusion_group */
extern const read_table read_fusion_table; /* doc */
bool read_patterns(reader *r, void *doc);
bool read_finish_fusion(reader *r, doc *d);
extern const read_table read_gpu_table; /* doc_gpu */
bool read_finish_gpu(reader *r, doc *d);
/* (profile_read_watch.c) */
extern const read_table read_watch_table; /* doc_watch */
bool read_finish_watch(reader *r, doc *d);

#endif
