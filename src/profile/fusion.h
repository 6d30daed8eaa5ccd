/* A model partitioned into groups that can each run as one kernel, as plain data: filled by analyze/fuse.c, read by
 * reports. Group ids are positions in the list; a group follows all groups that it depends on.
 */
#ifndef PROFILE_FUSION_H
#define PROFILE_FUSION_H

#include "base/str.h"

typedef struct fusion_group {
    uint32_t id;      /* profile_settle(): its place in the list */
    str kind;         /* "conv-bn-act", "attention"; of a node alone its type */
    const str *nodes; /* names of layers, in execution order */
    uint32_t n_nodes;
    uint64_t flops; /* by the profile's lens */
    uint64_t macs;
    uint64_t memory;         /* of its layers one by one */
    uint64_t boundary_bytes; /* what enters and leaves it, each buffer once */
    uint64_t saved_bytes;    /* profile_settle() */
    double arithmetic_intensity, intensity_before;
    uint64_t launches; /* of kernels per run of the model; 0: views alone */
    uint32_t level;    /* groups of a level do not depend on each other */
    bool critical;     /* on the critical path */
    const uint32_t *depends_on;
    uint32_t n_depends_on;
} fusion_group;

typedef struct fusion_kind { /* the groups of a kind together */
    str kind;
    uint32_t groups, nodes;
    uint64_t flops, memory, boundary_bytes;
    uint64_t saved_bytes; /* profile_settle() */
} fusion_kind;

typedef struct fusion_difference { /* what the engine did otherwise */
    const char *what;              /* "split", "joined" */
    str kernel, op;
    str kind;   /* of the group concerned */
    str detail; /* names of layers */
} fusion_difference;

/* Where they part: neighbours of these types that one joins and the other does not. */
typedef struct fusion_reason {
    const char *what; /* as above */
    str before, after;
    uint32_t pairs;
} fusion_reason;

/* Groups compared with the kernels of an engine's optimised graph. */
typedef struct fusion_engine {
    bool present;
    str name;
    uint32_t kernels, own_kernels; /* own: without a layer (copies, layout changes) */
    uint32_t nodes, same_nodes;    /* layers that kernels execute, and how many are in equal sets */
    uint32_t groups, same_groups;  /* groups of such layers; of them equal to a kernel */
    uint32_t pairs_both, pairs_ours, pairs_engine; /* neighbours joined by both, by one alone */
    const fusion_reason *reasons;                  /* most pairs first */
    uint32_t n_reasons;
    const fusion_difference *differences;
    uint32_t n_differences;
} fusion_engine;

typedef struct profile_fusion {
    const char *strategy; /* "none", "conventional", "aggressive" */
    const fusion_group *groups;
    uint32_t n_groups;
    const fusion_kind *kinds; /* by bytes saved, descending */
    uint32_t n_kinds;
    uint64_t launches_before, launches_after;
    uint64_t bytes_before, bytes_after;
    uint64_t launches_saved, bytes_saved; /* profile_settle() */
    double intensity_before, intensity_after;
    uint32_t levels, widest_level, widest_groups; /* the level with most groups, and how many */
    uint32_t critical_groups;
    uint64_t critical_flops, critical_bytes;
    double concurrency; /* FLOPs of all groups over those of the critical path */
    fusion_engine engine;
} profile_fusion;

/* What joining layers and sharing memory could save, for advice; in no report. By strategy: none, conventional,
 * aggressive. */
typedef struct profile_potential {
    bool present;
    uint32_t groups[3], widest;
    uint64_t launches[3], bytes[3];
    double concurrency;
    uint64_t unpooled_bytes; /* all activations, each in memory of its own */
} profile_potential;

/* A computation that the file writes as several operators and people know by a name. */
typedef struct profile_pattern {
    const char *name; /* "layernorm", "gelu", "attention" */
    const char *form; /* "erf", "tanh", "mask"; "" */
    str output;       /* name of the layer that makes its result */
    const str *nodes; /* names of layers, in execution order */
    uint32_t n_nodes;
    bool native; /* one operator of the file */
    uint64_t flops, macs;
} profile_pattern;

#endif
