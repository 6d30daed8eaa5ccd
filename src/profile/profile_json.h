/* Shared by the profile_json*.c files: shapes, and the sections that are lists. */
#ifndef PROFILE_PROFILE_JSON_H
#define PROFILE_PROFILE_JSON_H

#include "base/json_write.h"
#include "profile/profile.h"

static inline void put_dim(json_writer *w, int64_t dim)
{
    if (dim < 0)
        json_null(w);
    else
        json_i64(w, dim);
}

static inline void put_shape(json_writer *w, const profile_shape *s)
{
    if (s->rank < 0) {
        json_null(w);
        return;
    }
    json_flat_array(w);
    for (int i = 0; i < s->rank; i++)
        put_dim(w, s->dims[i]);
    json_end(w);
}

static inline void put_dtype(json_writer *w, ir_dtype t)
{
    if (t == IR_UNDEFINED)
        json_null(w);
    else
        json_cstr(w, ir_dtype_get(t)->name);
}

/* Of an object that is open: type, shape and, when it is no tensor, kind. */
static inline void put_value(json_writer *w, const profile_tensor *t)
{
    json_key(w, "dtype");
    put_dtype(w, t->dtype);
    json_key(w, "shape");
    put_shape(w, &t->shape);
    if (t->kind && strcmp(t->kind, "tensor") != 0)
        key_cstr(w, "kind", t->kind);
}

void profile_json_context(json_writer *w, const profile *p);
void profile_json_layers(json_writer *w, const profile *p);
void profile_json_modules(json_writer *w, const profile *p); /* nothing when there are none */
void profile_json_values(json_writer *w, const profile *p);  /* the same */
void profile_json_memory_plan(json_writer *w, const profile *p);
/* Nothing when nothing was run (profile_json_measured.c). */
void profile_json_measured(json_writer *w, const profile *p);
/* `devices` and `map`; nothing when the model was not placed on devices (profile_json_map.c). */
void profile_json_map(json_writer *w, const profile_mapping *m);
/* `groups` and `fusion`, and `patterns`; nothing when they were not asked for (profile_json_fusion.c). */
void profile_json_fusion(json_writer *w, const profile_fusion *f);
/* `watch`; nothing when no process was watched (profile_json_watch.c). */
void profile_json_watch(json_writer *w, const profile_watch *x);
void profile_json_patterns(json_writer *w, const profile *p);
void profile_json_engine(json_writer *w, const profile *p);
void profile_json_batch_sizes(json_writer *w, const profile *p);
void profile_json_training(json_writer *w, const profile_training *t);   /* nothing when absent */
void profile_json_inventory(json_writer *w, const profile_inventory *i); /* nothing when absent */

#endif
