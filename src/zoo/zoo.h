/* The catalogue: every built-in architecture as a row, and building one into a graph. */
#ifndef ZOO_ZOO_H
#define ZOO_ZOO_H

#include "ir/graph.h"
#include "zoo/args.h"
#include "zoo/nn.h"

typedef void zoo_build_fn(nn *b);

typedef struct zoo_row {
    const char *name;    /* "resnet50", as torchvision or its library calls it */
    const char *aliases; /* other spellings, space separated, or NULL */
    const char *family;  /* "resnet" */
    const char *task;    /* "classification", "segmentation", "detection", "video", ... */
    zoo_build_fn *build;
    const char
        *defaults; /* "layers=3,4,6,3 block=bottleneck": what makes it this one of its family */
} zoo_row;

/* Behind the defaults of a row whose weights are published in another type than float32: "torch_dtype" of its
 * config.json, or of its checkpoint where that says nothing. */
#define ZOO_BF16 " torch_dtype=bfloat16"
#define ZOO_F16  " torch_dtype=float16"

typedef struct zoo_rows {
    const zoo_row *rows;
    uint32_t n;
} zoo_rows;
#define ZOO_ROW(name_, aliases_, family_, task_, build_, defaults_)                   \
    {                                                                                 \
        .name = (name_), .aliases = (aliases_), .family = (family_), .task = (task_), \
        .build = (build_), .defaults = defaults_                                      \
    }
#define ZOO_ROWS(array)                           \
    {                                             \
        (array), sizeof(array) / sizeof(array)[0] \
    }

/* Each family's file ends with  const zoo_rows zoo_NAME_rows = ZOO_ROWS(rows);  catalogue.c lists them. */
extern const zoo_rows *const zoo_table[];
extern const uint32_t zoo_table_n;

uint32_t zoo_count(void);
const zoo_row *zoo_at(uint32_t index);
/* By name or alias, '-' and '_' and case being one, or left out where that is no other model's name;
 * NULL when unknown. */
const zoo_row *zoo_find(str name);
/* By a config.json's "model_type" (or the "_class_name" of diffusers): a row with the library's defaults,
 * in no list; NULL when unknown. */
const zoo_row *zoo_find_family(str model_type);
/* The rows of zoo_find_family(), for lists and tests; NULL past the end. */
const zoo_row *zoo_family_at(uint32_t index);
/* The nearest names of a task (NULL: of any), at most max; their count. */
uint32_t zoo_suggest(str name, const char *task, const char **out, uint32_t max);
/* What a well-known family that is not built in is for ("detection" of yolov8n), or NULL. */
const char *zoo_task_of_stranger(str name);

typedef struct zoo_input { /* --input-shape for a built-in model */
    str name;              /* empty: inputs in order */
    int rank;
    const int64_t *dims;
} zoo_input;

/* A parameter that a builder asked for, and the value that it got: a number or a list of whole numbers; with `library`
 * also flags and words. Of several spellings it is told under the first. */
typedef struct zoo_asked {
    const char *key;
    json_value value;
} zoo_asked;
typedef struct zoo_asked_list {
    arena *arena; /* given by the caller */
    bool library; /* given by the caller: also the keys of libraries' configurations (hf.h) */
    VEC(zoo_asked) list;
} zoo_asked_list;

typedef struct zoo_request {
    const zoo_row *row;
    const zoo_args *set; /* overrides by the user or a config; may be NULL */
    const zoo_input *inputs;
    uint32_t n_inputs;
    int64_t batch; /* 0: the architecture's own */
    size_t memory_limit;
    zoo_asked_list *asked; /* gets what the builder asked for; or NULL */
    bool lenient;          /* keys the builder does not know are notes, not errors (config files) */
} zoo_request;

/* ASSAY_ERR_USAGE for parameters that do not fit, with the key in the sentence; ASSAY_ERR_UNSUPPORTED for a
 * class, activation or block that no builder knows. */
assay_status zoo_build(const zoo_request *q, ir_model **out, assay_error *err);

/* The whole number that a row's defaults give to a key (the last one, a list's first); false if they give none. */
bool zoo_default(const zoo_row *row, const char *key, int64_t *out);

#endif
