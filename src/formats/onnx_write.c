/* ModelProto, GraphProto, NodeProto, AttributeProto, TypeProto. Field numbers are those of onnx.proto;
 * lists of numbers are written one record each, as its proto2 form does.
 */
#include "formats/onnx_write.h"

#include <limits.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/onnx_write_impl.h"

#define SCRATCH_BYTES ((size_t)1 << 30)
#define MODEL_MAX     ((uint64_t)INT32_MAX)
#define DATA_MAX      (UINT64_C(1) << 43) /* 8 TB: a file without weights may declare any size */

enum { MARK_PARAMETER, MARK_BUFFER, MARK_CONSTANT, N_MARKS };

static void put_graph(onnx_writer *w, uint32_t field, ir_id id);

/* ---- types ---- */

enum {
    TYPE_TENSOR = 1,
    TYPE_SEQUENCE = 4,
    TYPE_MAP = 5,
    TYPE_OPAQUE = 7,
    TYPE_SPARSE = 8,
    TYPE_OPTIONAL = 9
};

static void put_type(wire_out *o, uint32_t field, const ir_type *t);

static void put_dim(wire_out *o, const ir_dim *d)
{
    wire_open(o, 1);
    if (d->value >= 0)
        wire_put_int(o, 1, d->value);
    else if (!str_empty(d->symbol))
        wire_put_str(o, 2, d->symbol);
    wire_close(o);
}

static void put_tensor_type(wire_out *o, uint32_t field, const ir_type *t)
{
    wire_open(o, field);
    wire_put_int(o, 1, t->dtype);
    if (t->rank >= 0) {
        wire_open(o, 2);
        for (int i = 0; i < t->rank; i++)
            put_dim(o, &t->dims[i]);
        wire_close(o);
    }
    wire_close(o);
}

static void put_wrapped_type(wire_out *o, uint32_t field, const ir_type *t)
{
    bool is_map = t->kind == IR_KIND_MAP;
    wire_open(o, field);
    if (is_map)
        wire_put_int(o, 1, t->dtype);
    if (t->elem)
        put_type(o, is_map ? 2 : 1, t->elem);
    wire_close(o);
}

static void put_type(wire_out *o, uint32_t field, const ir_type *t)
{
    static const uint32_t fields[] = {
        [IR_KIND_TENSOR] = TYPE_TENSOR,     [IR_KIND_SPARSE] = TYPE_SPARSE,
        [IR_KIND_SEQUENCE] = TYPE_SEQUENCE, [IR_KIND_OPTIONAL] = TYPE_OPTIONAL,
        [IR_KIND_MAP] = TYPE_MAP,           [IR_KIND_OPAQUE] = TYPE_OPAQUE,
    };
    wire_open(o, field);
    if (t->kind == IR_KIND_TENSOR || t->kind == IR_KIND_SPARSE)
        put_tensor_type(o, fields[t->kind], t);
    else if (t->kind != IR_KIND_NONE)
        put_wrapped_type(o, fields[t->kind], t);
    wire_close(o);
}

static void put_value(onnx_writer *w, uint32_t field, ir_id id)
{
    const ir_value *v = ir_value_at(w->m, id);
    wire_open(&w->out, field);
    wire_put_str(&w->out, 1, v->name);
    if (v->declared.kind != IR_KIND_NONE)
        put_type(&w->out, 2, &v->declared);
    wire_close(&w->out);
}

/* ---- attributes ---- */

static void put_single(onnx_writer *w, const ir_attr *a)
{
    wire_out *o = &w->out;
    switch (a->kind) {
    case IR_ATTR_FLOAT:
        wire_put_float(o, 2, a->v.f);
        break;
    case IR_ATTR_INT:
        wire_put_int(o, 3, a->v.i);
        break;
    case IR_ATTR_STRING:
        wire_put_str(o, 4, a->v.s);
        break;
    case IR_ATTR_TENSOR:
        onnx_write_tensor(w, 5, a->v.tensor);
        break;
    case IR_ATTR_GRAPH:
        put_graph(w, 6, a->v.graph);
        break;
    case IR_ATTR_SPARSE:
        onnx_write_sparse(w, 22, a->v.tensor->name, a->v.tensor);
        break;
    case IR_ATTR_TYPE:
        put_type(o, 14, a->v.type);
        break;
    default:
        break;
    }
}

static void put_item(onnx_writer *w, const ir_attr *a, uint32_t i)
{
    wire_out *o = &w->out;
    switch (a->kind) {
    case IR_ATTR_FLOATS:
        wire_put_float(o, 7, a->v.floats[i]);
        break;
    case IR_ATTR_INTS:
        wire_put_int(o, 8, a->v.ints[i]);
        break;
    case IR_ATTR_STRINGS:
        wire_put_str(o, 9, a->v.strings[i]);
        break;
    case IR_ATTR_TENSORS:
        onnx_write_tensor(w, 10, a->v.tensors[i]);
        break;
    case IR_ATTR_GRAPHS:
        put_graph(w, 11, a->v.graphs[i]);
        break;
    case IR_ATTR_TYPES:
        put_type(o, 15, a->v.types[i]);
        break;
    case IR_ATTR_SPARSES:
        onnx_write_sparse(w, 23, a->v.tensors[i]->name, a->v.tensors[i]);
        break;
    default:
        break;
    }
}

/* An attribute that the caller of a function would give has no meaning outside of it. */
static void put_attr(onnx_writer *w, const ir_attr *a)
{
    if (a->kind == IR_ATTR_NONE || !str_empty(a->ref))
        return;
    wire_open(&w->out, 5);
    wire_put_str(&w->out, 1, a->name);
    if (!ir_attr_is_list(a->kind))
        put_single(w, a);
    for (uint32_t i = 0; ir_attr_is_list(a->kind) && i < a->n; i++)
        put_item(w, a, i);
    wire_put_int(&w->out, 20, a->kind);
    wire_close(&w->out);
}

/* ---- nodes and graphs ---- */

static void put_names(onnx_writer *w, uint32_t field, const ir_id *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        wire_put_str(&w->out, field, ids[i] == IR_NONE ? STR("") : ir_value_at(w->m, ids[i])->name);
}

static void put_node(onnx_writer *w, ir_id id)
{
    const ir_node *n = ir_node_at(w->m, id);
    wire_open(&w->out, 1);
    put_names(w, 1, n->inputs, n->n_inputs);
    put_names(w, 2, n->outputs, n->n_outputs);
    if (!str_empty(n->name))
        wire_put_str(&w->out, 3, n->name);
    wire_put_str(&w->out, 4, n->op);
    for (uint32_t i = 0; i < n->n_attrs; i++)
        put_attr(w, &n->attrs[i]);
    if (!str_empty(n->domain))
        wire_put_str(&w->out, 7, n->domain);
    wire_close(&w->out);
}

static str graph_name(const ir_model *m, ir_id id)
{
    str name = ir_graph_at(m, id)->name;
    if (!str_empty(name))
        return name;
    return id == 0 && str_is(m->format, "zoo") && !str_empty(m->name) ? m->name : STR("graph");
}

/* Types of what nodes make; those of inputs and outputs stand there. */
static void put_value_infos(onnx_writer *w, const ir_graph *g)
{
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(w->m, g->nodes.items[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            ir_id id = n->outputs[k];
            const ir_value *v = id == IR_NONE ? NULL : ir_value_at(w->m, id);
            if (v && !(v->flags & IR_VALUE_OUTPUT) && v->declared.kind != IR_KIND_NONE)
                put_value(w, 13, id);
        }
    }
}

static void put_graph(onnx_writer *w, uint32_t field, ir_id id)
{
    const ir_graph *g = ir_graph_at(w->m, id);
    wire_open(&w->out, field);
    for (uint32_t i = 0; i < g->nodes.n && w->out.status == ASSAY_OK; i++)
        put_node(w, g->nodes.items[i]);
    wire_put_str(&w->out, 2, graph_name(w->m, id));
    for (uint32_t i = 0; i < g->constants.n && w->out.status == ASSAY_OK; i++)
        onnx_write_initialiser(w, g->constants.items[i]);
    for (uint32_t i = 0; i < g->inputs.n; i++)
        put_value(w, 11, g->inputs.items[i]);
    for (uint32_t i = 0; i < g->constants.n; i++)
        if (ir_value_at(w->m, g->constants.items[i])->flags & IR_VALUE_OVERRIDABLE)
            put_value(w, 11, g->constants.items[i]);
    for (uint32_t i = 0; i < g->outputs.n; i++)
        put_value(w, 12, g->outputs.items[i]);
    put_value_infos(w, g);
    wire_close(&w->out);
}

/* ---- operator sets ---- */

typedef struct imports {
    arena *arena;
    VEC(ir_opset) list;
} imports;

static bool import_opset(imports *x, str domain, int64_t version)
{
    for (uint32_t i = 0; i < x->list.n; i++)
        if (str_eq(x->list.items[i].domain, domain))
            return true;
    ir_opset *o = VEC_PUSH(x->arena, &x->list);
    if (o)
        *o = (ir_opset){domain, version};
    return o != NULL;
}

/* Which domains the nodes use, the subgraphs' too. An import of the model gives the version; a domain
 * that only an inlined function imported has its nodes' version. */
static bool import_used(imports *x, const ir_model *m, ir_id graph)
{
    const ir_graph *g = ir_graph_at(m, graph);
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        const ir_node *n = ir_node_at(m, g->nodes.items[i]);
        int version = ir_opset_version(m, n->domain);
        version = version > 0 ? version : n->version > 0 ? n->version : 1;
        if (!import_opset(x, n->domain, version))
            return false;
        for (uint32_t k = 0; k < n->n_attrs; k++) {
            ir_graphs inner = ir_attr_graphs(&n->attrs[k]);
            for (uint32_t j = 0; j < inner.n; j++)
                if (!import_used(x, m, inner.ids[j]))
                    return false;
        }
    }
    return true;
}

/* A graph without nodes needs no operator, but every model names a set. */
static bool list_imports(imports *x, const ir_model *m)
{
    int version = ir_opset_version(m, STR(""));
    return (version <= 0 || import_opset(x, STR(""), version)) && import_used(x, m, 0) &&
           (x->list.n > 0 || import_opset(x, STR(""), 1));
}

static void put_imports(onnx_writer *w)
{
    imports x = {.arena = w->out.arena};
    if (!list_imports(&x, w->m))
        wire_out_fail(&w->out, err_no_memory(w->out.err));
    for (uint32_t i = 0; i < x.list.n; i++) {
        wire_open(&w->out, 8);
        wire_put_str(&w->out, 1, x.list.items[i].domain);
        wire_put_int(&w->out, 2, x.list.items[i].version);
        wire_close(&w->out);
    }
}

/* The oldest IR version that goes with an opset of ai.onnx. */
static int64_t ir_version_of(const ir_model *m)
{
    static const struct {
        int opset, ir;
    } since[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9},
                 {15, 8},  {12, 7},  {11, 6},  {10, 5},  {9, 4}};
    int opset = ir_opset_version(m, STR(""));
    if (str_is(m->format, "onnx") && m->ir_version > 0)
        return m->ir_version;
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        if (opset >= since[i].opset)
            return since[i].ir;
    return opset > 0 ? 3 : 8;
}

/* ---- the model ---- */

static const char *const mark_keys[N_MARKS] = {
    [MARK_PARAMETER] = "assay.parameters",
    [MARK_BUFFER] = "assay.buffers",
    [MARK_CONSTANT] = "assay.constants",
};

static int mark_of(const ir_value *v)
{
    if (v->flags & IR_VALUE_PARAM)
        return MARK_PARAMETER;
    if (v->flags & IR_VALUE_BUFFER)
        return MARK_BUFFER;
    /* Integers are taken for weights by nobody, nor are single numbers. */
    bool clear = v->constant->n_elems <= 1 || v->constant->dtype == IR_INT64;
    return (v->flags & IR_VALUE_NOT_PARAM) && !clear ? MARK_CONSTANT : -1;
}

static void collect_marks(onnx_writer *w)
{
    const ir_graph *g = ir_graph_at(w->m, 0);
    for (uint32_t i = 0; i < g->constants.n; i++) {
        const ir_value *v = ir_value_at(w->m, g->constants.items[i]);
        int k = mark_of(v);
        if (k < 0 || memchr(v->name.p, '\n', v->name.n))
            continue;
        if (w->marks[k].n)
            sbuf_putc(&w->marks[k], '\n');
        sbuf_str(&w->marks[k], v->name);
    }
}

static void put_marks(onnx_writer *w)
{
    for (int k = 0; k < N_MARKS; k++) {
        if (w->marks[k].n == 0 || w->marks[k].failed || w->marks[k].n > INT32_MAX)
            continue;
        wire_open(&w->out, 14);
        wire_put_str(&w->out, 1, str_of(mark_keys[k]));
        wire_put_str(&w->out, 2, (str){w->marks[k].p, (uint32_t)w->marks[k].n});
        wire_close(&w->out);
    }
}

#define TEXT(x)  #x
#define DIGIT(x) TEXT(x)
static const char version[] = DIGIT(ASSAY_VERSION_MAJOR) "." DIGIT(ASSAY_VERSION_MINOR) "." DIGIT(
    ASSAY_VERSION_PATCH);

static assay_status put_model(onnx_writer *w)
{
    w->data_pos = 0;
    w->got = (onnx_written){0};
    wire_put_int(&w->out, 1, ir_version_of(w->m));
    wire_put_str(&w->out, 2, STR("assay"));
    wire_put_str(&w->out, 3, str_of(version));
    put_graph(w, 7, 0);
    put_imports(w);
    put_marks(w);
    w->got.model_bytes = w->out.pos;
    w->got.data_bytes = w->data_pos;
    return w->out.status;
}

/* ---- two passes ---- */

static assay_status too_large(const onnx_writer *w)
{
    return err_fail(w->out.err, ASSAY_ERR_UNSUPPORTED,
                    "the model needs %llu bytes without external data; an ONNX file is limited to "
                    "2 GB. Write it to a file, so that the weights go to a second file.",
                    (unsigned long long)w->out.pos);
}

static assay_status measure_model(onnx_writer *w, bool may_be_external)
{
    w->external = w->opt.external_data && may_be_external;
    TRY(put_model(w));
    if (w->out.pos > MODEL_MAX && !w->external && may_be_external) {
        w->external = true;
        wire_out_again(&w->out);
        TRY(put_model(w));
    }
    if (w->data_pos > DATA_MAX)
        return err_fail(w->out.err, ASSAY_ERR_UNSUPPORTED,
                        "the model declares %llu bytes of weights, which is too much to write",
                        (unsigned long long)w->data_pos);
    return w->out.pos > MODEL_MAX ? too_large(w) : ASSAY_OK;
}

static assay_status prepare_writer(onnx_writer *w)
{
    w->out.arena = arena_new(SCRATCH_BYTES);
    w->piece = memory_alloc(ONNX_PIECE_BYTES);
    w->fills = w->out.arena ? onnx_fill_plan(w->m, w->out.arena) : NULL;
    collect_marks(w);
    bool failed = w->marks[0].failed || w->marks[1].failed || w->marks[2].failed;
    return w->piece && w->fills && !failed ? ASSAY_OK : err_no_memory(w->out.err);
}

static void free_writer(onnx_writer *w)
{
    for (int k = 0; k < N_MARKS; k++)
        sbuf_free(&w->marks[k]);
    free(w->piece);
    arena_free(w->out.arena);
}

static assay_status write_measured(onnx_writer *w, const wire_sink *model, const wire_sink *data)
{
    w->data = data;
    wire_out_start(&w->out, model);
    return put_model(w);
}

assay_status onnx_write_sinks(const ir_model *m, const onnx_write_options *opt,
                              const wire_sink *model, const wire_sink *data, const char *location,
                              onnx_written *got, assay_error *err)
{
    onnx_writer w = {.m = m, .out = {.err = err}, .location = str_of(location)};
    if (opt)
        w.opt = *opt;
    assay_status s = prepare_writer(&w);
    if (s == ASSAY_OK)
        s = measure_model(&w, data != NULL);
    if (s == ASSAY_OK)
        s = write_measured(&w, model, data);
    if (got)
        *got = w.got;
    free_writer(&w);
    return s;
}

/* ---- files ---- */

typedef struct outputs {
    file_out *model, *data;
} outputs;

/* The data first: a model whose data is not there yet would be seen by others. */
static assay_status commit_files(outputs *f, assay_error *err)
{
    file_out *both[] = {f->data, f->model};
    const size_t first = f->data ? 0 : 1;
    *f = (outputs){0};
    return file_out_commit_all(both + first, 2 - first, err);
}

static assay_status write_files(onnx_writer *w, const char *path, const char *data_path, outputs *f)
{
    assay_error *err = w->out.err;
    TRY(prepare_writer(w));
    TRY(file_out_open(path, &f->model, err));
    TRY(measure_model(w, true));
    if (w->data_pos > 0)
        TRY(file_out_open(data_path, &f->data, err));
    wire_sink model = wire_sink_file(f->model), data = {0};
    if (f->data)
        data = wire_sink_file(f->data);
    TRY(write_measured(w, &model, f->data ? &data : NULL));
    return commit_files(f, err);
}

assay_status onnx_write_file(const ir_model *m, const char *path, const onnx_write_options *opt,
                             onnx_written *got, assay_error *err)
{
    sbuf data_path = {0};
    outputs f = {0};
    sbuf_puts(&data_path, path);
    sbuf_puts(&data_path, ".data");
    const char *outside = sbuf_cstr(&data_path), *slash = strrchr(outside, '/');
    onnx_writer w = {.m = m, .out = {.err = err}, .location = str_of(slash ? slash + 1 : outside)};
    if (opt)
        w.opt = *opt;
    assay_status s = data_path.failed ? err_no_memory(err) : write_files(&w, path, outside, &f);
    file_out_abandon(f.data);
    file_out_abandon(f.model);
    if (got)
        *got = w.got;
    free_writer(&w);
    sbuf_free(&data_path);
    return s;
}
