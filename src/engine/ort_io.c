/* Inputs and outputs of a session, and tensors in the caller's memory. */
#include <stdlib.h>

#include "engine/ort_impl.h"
#include "ir/graph.h"

ir_dtype ort_dtype(int element_type)
{
    /* The runtime's numbers are those of ONNX up to float4e2m1. */
    return element_type > IR_UNDEFINED && element_type <= IR_FLOAT4E2M1 ? (ir_dtype)element_type
                                                                        : IR_UNDEFINED;
}

/* Strings are no memory that can be lent: the runtime keeps its own. */
static assay_status copy_strings(const ort_engine *e, const engine_tensor *t, ort_value **out,
                                 assay_error *err)
{
    const ort_api *api = &e->api;
    TRY(ort_check(api, api->new_tensor(e->strings, t->dims, (size_t)t->rank, (int)t->dtype, out),
                  "cannot create a string tensor", err));
    return ort_check(api, api->fill_strings(*out, t->data, (size_t)t->size_bytes / sizeof(char *)),
                     "cannot fill a string tensor", err);
}

assay_status ort_tensor_view(const ort_engine *e, const engine_tensor *t, ort_value **out,
                             assay_error *err)
{
    static const char nothing[16] = {0};
    void *data = t->data;
    if (t->dtype == IR_STRING)
        return copy_strings(e, t, out, err);
    if (!data) /* an empty tensor; the runtime wants an address all the same, and never writes to it */
        memcpy(&data, &(const char *){nothing}, sizeof data);
    return ort_check(&e->api,
                     e->api.create_tensor(e->cpu, data, (size_t)t->size_bytes, t->dims,
                                          (size_t)t->rank, (int)t->dtype, out),
                     "cannot create a tensor", err);
}

/* Which of the two lists, as functions. */
typedef struct side {
    const engine_options *options;
    ort_status *(*count)(const ort_session *, size_t *);
    ort_status *(*name)(const ort_session *, size_t, ort_allocator *, char **);
    ort_status *(*type)(const ort_session *, size_t, ort_type_info **);
} side;

static const char what[] = "cannot describe the model's inputs and outputs";

static assay_status read_name(ort_engine_session *s, const side *f, size_t i, const char **out,
                              assay_error *err)
{
    const ort_engine *e = ort_of(&s->base);
    char *name = NULL;
    TRY(ort_check(&e->api, f->name(s->session, i, e->strings, &name), what, err));
    *out = arena_strdup(s->base.arena, name ? name : "");
    ort_status *freed = e->api.allocator_free(e->strings, name);
    if (freed)
        e->api.release_status(freed);
    return *out ? ASSAY_OK : err_no_memory(err);
}

/* Before 1.23 a session that does not optimise shows a dimension as open although it was told. */
static int64_t told(const engine_options *o, const char *symbol, int64_t dim)
{
    for (uint32_t i = 0; dim < 0 && i < o->n_dims; i++)
        if (strcmp(o->dims[i].name, symbol) == 0)
            return o->dims[i].value;
    return dim;
}

static assay_status read_dims(ort_engine_session *s, const engine_options *o,
                              const ort_tensor_info *t, size_t rank, engine_io *io,
                              assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    int64_t *dims = ARENA_ARRAY(s->base.arena, int64_t, rank);
    const char **symbols = ARENA_ARRAY(s->base.arena, const char *, rank);
    TRY_MEMORY(!arena_failed(s->base.arena), err);
    TRY(ort_check(api, api->dims(t, dims, rank), what, err));
    TRY(ort_check(api, api->dim_names(t, symbols, rank), what, err));
    for (size_t i = 0; i < rank; i++) {
        dims[i] = symbols[i] ? told(o, symbols[i], dims[i]) : dims[i];
        symbols[i] = arena_strdup(s->base.arena, symbols[i] ? symbols[i] : "");
    }
    io->rank = (int)rank;
    io->dims = dims;
    io->symbols = symbols;
    return arena_failed(s->base.arena) ? err_no_memory(err) : ASSAY_OK;
}

static assay_status read_tensor(ort_engine_session *s, const engine_options *o,
                                const ort_type_info *type, engine_io *io, assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    const ort_tensor_info *t = NULL;
    int element = 0;
    size_t rank = 0;
    TRY(ort_check(api, api->type_to_tensor(type, &t), what, err));
    if (!t)
        return ASSAY_OK;
    TRY(ort_check(api, api->element_type(t, &element), what, err));
    TRY(ort_check(api, api->rank(t, &rank), what, err));
    io->is_tensor = true;
    io->dtype = ort_dtype(element);
    if (rank > IR_MAX_RANK)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' has more than %d dimensions", io->name,
                        IR_MAX_RANK);
    return read_dims(s, o, t, rank, io, err);
}

static assay_status read_one(ort_engine_session *s, const side *f, size_t i, engine_io *io,
                             assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    ort_type_info *type = NULL;
    io->rank = -1;
    TRY(read_name(s, f, i, &io->name, err));
    TRY(ort_check(api, f->type(s->session, i, &type), what, err));
    assay_status status = read_tensor(s, f->options, type, io, err);
    api->release_type(type);
    return status;
}

static assay_status read_side(ort_engine_session *s, const side *f, const engine_io **list,
                              uint32_t *count, ort_strings *names, assay_error *err)
{
    size_t n = 0;
    TRY(ort_check(&ort_of(&s->base)->api, f->count(s->session, &n), what, err));
    engine_io *io = ARENA_ARRAY(s->base.arena, engine_io, n);
    const char **all = ARENA_ARRAY(s->base.arena, const char *, n);
    TRY_MEMORY(!arena_failed(s->base.arena), err);
    for (size_t i = 0; i < n; i++) {
        TRY(read_one(s, f, i, &io[i], err));
        all[i] = io[i].name;
    }
    *list = io;
    *count = (uint32_t)n;
    *names = all;
    return ASSAY_OK;
}

assay_status ort_io_describe(ort_engine_session *s, const engine_options *o, assay_error *err)
{
    const ort_api *api = &ort_of(&s->base)->api;
    engine_session_info *info = &s->base.info;
    side in = {o, api->input_count, api->input_name, api->input_type};
    side out = {o, api->output_count, api->output_name, api->output_type};
    TRY(read_side(s, &in, &info->inputs, &info->n_inputs, &s->input_names, err));
    return read_side(s, &out, &info->outputs, &info->n_outputs, &s->output_names, err);
}
