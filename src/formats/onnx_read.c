/* ModelProto: the top level of an ONNX file.
 *
 * The operator sets that give nodes their versions follow the graph in the file, so the top level is walked first,
 * which skips the graph as one record, and the graph is read after it.
 */
#include "formats/onnx_read.h"

#include <limits.h>
#include <stdio.h>

#include "formats/onnx_impl.h"
#include "ir/function.h"

#define HEAD_BYTES 512

typedef struct onnx_entry { /* of the model's metadata */
    onnx_reader *r;
    str key, value;
} onnx_entry;

typedef struct model_in {
    onnx_reader *r;
    bool has_version, has_graph;
    int64_t ir_version;
    str producer, producer_version;
    cursor graph;
    VEC(cursor) functions;
    VEC(onnx_entry) marks;
} model_in;

/* ---- strings ---- */

str onnx_atom(onnx_reader *r, wire_field *f)
{
    str s = onnx_name(r, f);
    str *recent = &r->recent[(s.n ? s.n * 8 + (unsigned char)s.p[0] : 0) % ONNX_RECENT];
    if (s.n && str_eq(*recent, s))
        return *recent;
    if (map_intern(&r->atoms, r->m->arena, &s, 0) != MAP_NONE)
        return *recent = s;
    err_no_memory(r->err);
    f->body.failed = true;
    return (str){NULL, 0};
}

str onnx_string(onnx_reader *r, wire_field *f)
{
    uint64_t n = cursor_left(&f->body);
    if (n == 0 || n > SOURCE_VIEW_MAX)
        return cursor_str(&f->body, n, r->m->arena, ONNX_MAX_STRING_BYTES);
    str s = str_copy(r->m->arena, onnx_name(r, f));
    if (!s.p && !f->body.failed) {
        err_no_memory(r->err);
        f->body.failed = true;
    }
    return s;
}

str onnx_domain(onnx_reader *r, wire_field *f)
{
    str s = onnx_atom(r, f);
    return str_is(s, "ai.onnx") ? STR("") : s;
}

/* ---- operator sets ---- */

typedef struct opset_in {
    onnx_reader *r;
    ir_opset set;
} opset_in;

ONNX_TEXT(on_opset_domain, opset_in, set.domain, onnx_domain)
ONNX_NUMBER(on_opset_version, opset_in, set.version)

static const wire_row opset_rows[] = {
    [1] = {WIRE_IS_LEN, on_opset_domain},
    [2] = {WIRE_IS_VARINT, on_opset_version},
};
static const wire_message opset_message = WIRE_MESSAGE("OperatorSetIdProto", opset_rows);

assay_status onnx_read_opset(onnx_reader *r, wire_field *f, map *into, ir_opset *out)
{
    opset_in o = {.r = r, .set = {.domain = STR("")}};
    TRY(wire_walk(&f->body, &opset_message, &o));
    if (o.set.version < 0 || o.set.version > INT_MAX)
        return err_fail_at(r->err, ASSAY_ERR_MALFORMED, f->start,
                           "invalid version %lld of operator set " NAME_FMT,
                           (long long)o.set.version, NAME_ARG(o.set.domain));
    if (into->n >= ONNX_MAX_OPSETS)
        return err_fail_at(r->err, ASSAY_ERR_UNSUPPORTED, f->start, "more than %d operator sets",
                           ONNX_MAX_OPSETS);
    if (out)
        *out = o.set;
    return map_put(into, o.set.domain, (uint32_t)o.set.version) ? ASSAY_OK : err_no_memory(r->err);
}

/* ---- the model ---- */

static assay_status on_ir_version(void *self, wire_field *f)
{
    model_in *in = self;
    in->has_version = true;
    in->ir_version = (int64_t)f->value;
    return ASSAY_OK;
}

ONNX_TEXT(on_producer, model_in, producer, onnx_string)
ONNX_TEXT(on_producer_version, model_in, producer_version, onnx_string)

static assay_status on_graph(void *self, wire_field *f)
{
    model_in *in = self;
    if (in->has_graph)
        return err_fail_at(in->r->err, ASSAY_ERR_MALFORMED, f->start,
                           "damaged file: second graph at byte %llu", (unsigned long long)f->start);
    in->has_graph = true;
    in->graph = f->body;
    return ASSAY_OK;
}

static assay_status on_opset(void *self, wire_field *f)
{
    model_in *in = self;
    ir_opset set = {0};
    TRY(onnx_read_opset(in->r, f, &in->r->opsets, &set));
    if (str_empty(set.domain) && set.version > ONNX_NEWEST_OPSET)
        notes_add(&in->r->m->notes, "opset-newer", STR(""), "Use a newer version of assay.",
                  "The model uses opset %lld. This version of assay supports opsets up to %d and "
                  "applies the rules of that one.",
                  (long long)set.version, ONNX_NEWEST_OPSET);
    return ir_set_opset(in->r->m, set.domain, set.version) ? ASSAY_OK : err_no_memory(in->r->err);
}

static assay_status on_function(void *self, wire_field *f)
{
    model_in *in = self;
    return VEC_ADD(in->r->scratch, &in->functions, f->body) ? ASSAY_OK : err_no_memory(in->r->err);
}

static assay_status on_key(void *self, wire_field *f)
{
    onnx_entry *e = self;
    e->key = onnx_name(e->r, f);
    if (!str_starts(e->key, "assay."))
        e->key = STR("");
    else
        e->key = str_copy(e->r->scratch, e->key);
    return ASSAY_OK;
}

/* The key stands first in every known writer; a value without a known key is not even copied. */
static assay_status on_value(void *self, wire_field *f)
{
    onnx_entry *e = self;
    if (!str_empty(e->key))
        e->value = cursor_str(&f->body, cursor_left(&f->body), e->r->scratch,
                              ONNX_MAX_STRING_BYTES);
    return ASSAY_OK;
}

static const wire_row entry_rows[] = {
    [1] = {WIRE_IS_LEN, on_key},
    [2] = {WIRE_IS_LEN, on_value},
};
static const wire_message entry_message = WIRE_MESSAGE("StringStringEntryProto", entry_rows);

static assay_status on_metadata(void *self, wire_field *f)
{
    model_in *in = self;
    onnx_entry e = {.r = in->r};
    TRY(wire_walk(&f->body, &entry_message, &e));
    if (str_empty(e.key) || str_empty(e.value))
        return ASSAY_OK;
    return VEC_ADD(in->r->scratch, &in->marks, e) ? ASSAY_OK : err_no_memory(in->r->err);
}

static const wire_row model_rows[] = {
    [1] = {WIRE_IS_VARINT, on_ir_version},
    [2] = {WIRE_IS_LEN, on_producer},
    [3] = {WIRE_IS_LEN, on_producer_version},
    [7] = {WIRE_IS_LEN, on_graph},
    [8] = {WIRE_IS_LEN, on_opset},
    [14] = {WIRE_IS_LEN, on_metadata},
    [25] = {WIRE_IS_LEN, on_function},
};
static const wire_message model_message = WIRE_MESSAGE("ModelProto", model_rows);

static assay_status check_versions(model_in *in)
{
    onnx_reader *r = in->r;
    long long v = (long long)in->ir_version;
    if (in->has_version && v <= 0)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "invalid IR version %lld", v);
    if (!in->has_version)
        notes_add(&r->m->notes, "ir-version", STR(""), NULL,
                  "The model has no IR version. The newest supported one is assumed.");
    if (v > ONNX_NEWEST_IR_VERSION)
        notes_add(&r->m->notes, "ir-version", STR(""), "Use a newer version of assay.",
                  "The model has IR version %lld. This version of assay supports versions up to %d "
                  "and may miss newer features.",
                  v, ONNX_NEWEST_IR_VERSION);
    if (r->opsets.n > 0)
        return ASSAY_OK;
    if (!in->has_version || v >= 3)
        return err_fail(r->err, ASSAY_ERR_MALFORMED,
                        "invalid ONNX model: no operator set (opset_import)");
    notes_add(&r->m->notes, "opset-assumed", STR(""), NULL,
              "The model (IR version %lld) has no operator set. Version 1 is assumed.", v);
    map_put(&r->opsets, STR(""), 1);
    return ir_set_opset(r->m, STR(""), 1) ? onnx_memory(r) : err_no_memory(r->err);
}

static void set_producer(model_in *in)
{
    ir_model *m = in->r->m;
    m->producer = in->producer;
    if (!str_empty(in->producer) && !str_empty(in->producer_version))
        m->producer = str_printf(m->arena, "%.*s %.*s", STR_ARG(in->producer),
                                 STR_ARG(in->producer_version));
}

static uint32_t mark_flag(str key)
{
    static const struct {
        const char *key;
        uint32_t flag;
    } flags[] = {{"assay.parameters", IR_VALUE_PARAM},
                 {"assay.buffers", IR_VALUE_BUFFER},
                 {"assay.constants", IR_VALUE_NOT_PARAM}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (str_is(key, flags[i].key))
            return flags[i].flag;
    return 0;
}

static void mark_value(onnx_reader *r, const onnx_scope *s, str name, uint32_t flag)
{
    const uint32_t any = IR_VALUE_PARAM | IR_VALUE_BUFFER | IR_VALUE_NOT_PARAM;
    uint32_t i = map_get(&s->index, name);
    ir_id id = i == MAP_NONE ? IR_NONE : s->symbols.items[i].value;
    if (id != IR_NONE && ir_value_at(r->m, id)->constant && !(ir_value_at(r->m, id)->flags & any))
        ir_value_at(r->m, id)->flags |= flag;
}

/* What our own writer kept of a builder's knowledge: see formats/onnx_write.h. */
static void apply_marks(const model_in *in)
{
    const onnx_scope *s = in->r->scopes.n ? in->r->scopes.items[0] : NULL;
    for (uint32_t k = 0; s && k < in->marks.n; k++) {
        str rest = in->marks.items[k].value;
        uint32_t flag = mark_flag(in->marks.items[k].key);
        while (flag && rest.n > 0) {
            const char *end = memchr(rest.p, '\n', rest.n);
            uint32_t n = end ? (uint32_t)(end - rest.p) : rest.n, used = end ? n + 1 : n;
            mark_value(in->r, s, (str){rest.p, n}, flag);
            rest = (str){rest.p + used, rest.n - used};
        }
    }
}

static assay_status check_functions(onnx_reader *r)
{
    ir_function_index index;
    return ir_function_index_init(&index, r->m, r->scratch, r->err);
}

static void note_absent(onnx_reader *r)
{
    if (r->n_absent > 0)
        notes_add(&r->m->notes, "weights-absent", r->first_absent,
                  "Static analysis does not need the data; running the model does.",
                  "%llu tensors have no data (the first is " NAME_FMT
                  "): the model was saved without its weights.",
                  (unsigned long long)r->n_absent, NAME_ARG(r->first_absent));
}

static assay_status read_model(onnx_reader *r)
{
    model_in in = {.r = r};
    cursor all = cursor_at(r->store->src, 0, source_size(r->store->src), r->err);
    TRY(wire_walk(&all, &model_message, &in));
    if (!in.has_graph)
        return err_fail(r->err, ASSAY_ERR_MALFORMED,
                        "not an ONNX model: no graph. Check that the file is complete.");
    TRY(check_versions(&in));
    r->m->ir_version = in.ir_version;
    set_producer(&in);
    TRY(onnx_read_graph(r, in.graph, 0));
    apply_marks(&in);
    for (uint32_t i = 0; i < in.functions.n; i++)
        TRY(onnx_read_function(r, in.functions.items[i]));
    TRY(check_functions(r));
    TRY(onnx_read_nested(r));
    note_absent(r);
    r->m->file_size_bytes = onnx_store_size(r->store);
    return onnx_memory(r);
}

/* ---- opening ---- */

static uint64_t memory_limit(const onnx_read_options *opt)
{
    uint64_t n = opt && opt->memory_limit ? opt->memory_limit : ONNX_DEFAULT_MEMORY_LIMIT;
    return n < SIZE_MAX ? n : SIZE_MAX;
}

/* Half of the memory is the model's, half is for the work. */
static assay_status read_with(onnx_reader *r, const onnx_read_options *opt)
{
    r->scratch = arena_new((size_t)(memory_limit(opt) / 2));
    r->external_required = opt && opt->external_required;
    r->seen = r->scratch ? ARENA_ARRAY(r->scratch, onnx_seen_attr, ONNX_SEEN_ATTRS) : NULL;
    if (!r->seen || !map_init(&r->atoms, r->scratch, 0) || !map_init(&r->opsets, r->scratch, 0)) {
        arena_free(r->scratch);
        return err_no_memory(r->err);
    }
    assay_status status = read_model(r);
    arena_free(r->scratch);
    return status;
}

static assay_status check_head(source *src, assay_error *err)
{
    uint8_t head[HEAD_BYTES];
    uint64_t n = source_size(src) < HEAD_BYTES ? source_size(src) : HEAD_BYTES;
    cursor c = cursor_at(src, 0, n, err);
    cursor_copy(&c, head, n);
    TRY(wire_status(&c));
    return onnx_refuse_other(head, n, source_size(src), err);
}

/* Takes src in any case. */
static assay_status make_model(source *src, const char *path, const onnx_read_options *opt,
                               ir_model **out, assay_error *err)
{
    ir_model *m = NULL;
    assay_status status = check_head(src, err);
    if (status == ASSAY_OK)
        status = ir_model_new((size_t)(memory_limit(opt) / 2), &m, err);
    onnx_store *store = status == ASSAY_OK ? onnx_store_new(m->arena, src, path) : NULL;
    if (!store) {
        source_close(src);
        ir_model_free(m);
        return status == ASSAY_OK ? err_no_memory(err) : status;
    }
    m->reader = onnx_store_reader(store);
    m->format = STR("onnx");
    m->name = path ? str_copy(m->arena, str_of(path)) : STR("");
    onnx_reader r = {.m = m, .err = err, .store = store};
    status = read_with(&r, opt);
    if (status != ASSAY_OK) {
        ir_model_free(m);
        return status;
    }
    *out = m;
    return ASSAY_OK;
}

/* Cursors need an error to write to. */
static assay_status read_source(source *src, const char *path, const onnx_read_options *opt,
                                ir_model **out, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    assay_status status = make_model(src, path, opt, out, &own);
    if (err)
        *err = own;
    return status;
}

assay_status onnx_read_file(const char *path, const onnx_read_options *opt, ir_model **out,
                            assay_error *err)
{
    source *src;
    *out = NULL;
    TRY(source_open(path, &src, err));
    assay_status status = read_source(src, path, opt, out, err);
    err_name_file(err, path);
    return status;
}

assay_status onnx_read_bytes(const void *p, uint64_t n, const onnx_read_options *opt,
                             ir_model **out, assay_error *err)
{
    source *src;
    char folder[4096]; /* with its slash it is a path whose last part is empty */
    const char *path = opt && opt->folder ? folder : NULL;
    *out = NULL;
    if (path && snprintf(folder, sizeof folder, "%s/", *opt->folder ? opt->folder : ".") >=
                    (int)sizeof folder)
        return err_fail(err, ASSAY_ERR_USAGE, "the folder path of the external data is too long");
    TRY(source_memory(p, n, &src, err));
    return read_source(src, path, opt, out, err);
}
