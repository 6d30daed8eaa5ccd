/* The kit for readers of formats other than ONNX; see foreign.h. */
#include "formats/foreign.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "ir/made.h"

/* ---- the model ---- */

static void swap_bytes(uint8_t *p, uint64_t n, unsigned size)
{
    for (uint64_t i = 0; size > 1 && i + size <= n; i += size)
        for (unsigned k = 0; k < size / 2; k++) {
            uint8_t b = p[i + k];
            p[i + k] = p[i + size - 1 - k];
            p[i + size - 1 - k] = b;
        }
}

/* Slices of the file, little-endian. */
static assay_status read_slice(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    if (t->storage == IR_DATA_INLINE) {
        memcpy(buf, t->bytes, (size_t)t->size_bytes);
        return ASSAY_OK;
    }
    if (t->storage != IR_DATA_SLICE || t->sparse || t->length != t->size_bytes)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "tensor '%.*s' has no plain data",
                        (int)(t->name.n < 100 ? t->name.n : 100), t->name.p ? t->name.p : "");
    TRY(source_read(ctx, t->offset, buf, t->size_bytes, err));
    if (t->encoding == FOREIGN_BIG_ENDIAN)
        swap_bytes(buf, t->size_bytes, ir_dtype_get(t->dtype)->bits / 8u);
    return ASSAY_OK;
}

static void close_source(void *ctx)
{
    source_close(ctx);
}

assay_status foreign_new(foreign *f, const char *format, source *src, size_t limit,
                         assay_error *err)
{
    *f = (foreign){.src = src, .format = format, .err = err};
    TRY(ir_model_new(limit / 2, &f->m, err));
    f->scratch = arena_new(limit / 2);
    bool made = f->scratch && ir_kit_begin(&f->kit, f->m, f->scratch, 256) &&
                ir_kit_begin(&f->nodes, f->m, f->scratch, 256);
    f->m->format = str_of(format);
    f->m->foreign = true;
    f->m->file_size_bytes = source_size(src);
    made = made && ir_set_opset(f->m, STR(""), FOREIGN_OPSET) &&
           ir_set_opset(f->m, STR(FOREIGN_MS), 1) && ir_set_opset(f->m, STR(FOREIGN_NHWC), 1) &&
           ir_set_opset(f->m, str_of(format), 1);
    return made ? ASSAY_OK : err_no_memory(err);
}

static bool is_used(const void *ctx, ir_id value)
{
    const uint32_t *uses = ctx;
    return uses[value] > 0;
}

/* Constants are made where an operator reads them; those that became attributes are no part of the graph. Weights that the
 * source has beside its operators stay. */
static void drop_unused(foreign *f)
{
    uint32_t *uses = ir_kit_uses(f->m, NULL, f->m->graphs.n, f->scratch);
    for (ir_id id = 0; uses && id < f->m->values.n; id++)
        uses[id] += (ir_value_at(f->m, id)->flags & IR_VALUE_UNREAD) != 0;
    for (ir_id g = 0; uses && f->m->nodes.n && g < f->m->graphs.n; g++)
        ir_kit_keep_constants(f->m, g, is_used, uses);
}

/* The source becomes the model's only when there is a model. */
assay_status foreign_done(foreign *f, assay_status status, ir_model **out)
{
    if (status == ASSAY_OK && f->m && f->scratch)
        drop_unused(f);
    bool failed = !f->m || !f->scratch || arena_failed(f->scratch) || arena_failed(f->m->arena);
    if (status == ASSAY_OK && failed)
        status = err_no_memory(f->err);
    arena_free(f->scratch);
    if (status != ASSAY_OK) {
        ir_model_free(f->m);
        return status;
    }
    f->m->reader = (ir_reader){.ctx = f->src, .read = read_slice, .close = close_source};
    *out = f->m;
    return ASSAY_OK;
}

assay_status foreign_done_beside(foreign *f, source *bin, assay_status status, ir_model **out,
                                 assay_error *err)
{
    source *src = f->src;
    if (status == ASSAY_OK && bin) {
        f->m->file_size_bytes = sat_add(source_size(src), source_size(bin));
        f->src = bin;
    }
    f->err = err;
    status = foreign_done(f, status, out);
    if (bin)
        source_close(status == ASSAY_OK ? src : bin);
    return status;
}

/* A few lines of text in place of the file, in a repository whose large files were not fetched. */
static assay_status is_lfs_pointer(source *s, bool *is, assay_error *err)
{
    static const char head[] = "version https://git-lfs";
    char bytes[sizeof head - 1];
    *is = false;
    if (source_size(s) < sizeof bytes || source_size(s) > 1024)
        return ASSAY_OK;
    TRY(source_read(s, 0, bytes, sizeof bytes, err));
    *is = memcmp(bytes, head, sizeof bytes) == 0;
    return ASSAY_OK;
}

assay_status foreign_open_beside(const foreign *f, const char *name, source **out)
{
    *out = NULL;
    if (!name)
        return err_no_memory(f->err);
    if (!file_stat(name).is_regular)
        return ASSAY_OK;
    TRY(source_open(name, out, f->err));
    bool pointer = false;
    assay_status status = is_lfs_pointer(*out, &pointer, f->err);
    if (status == ASSAY_OK && !pointer)
        return ASSAY_OK;
    source_close(*out);
    *out = NULL;
    if (pointer)
        notes_add(&f->m->notes, "lfs-pointer", STR(""), "Run `git lfs pull`.",
                  "The file with the weights is a Git LFS pointer.");
    return status;
}

/* ---- values ---- */

ir_id foreign_value(foreign *f, str name, ir_dtype t, int rank, const int64_t *dims)
{
    str own = ir_kit_name(&f->kit, name.n ? name : STR("value"));
    ir_id id = own.p ? ir_add_value_borrowed(f->m, f->graph, own) : IR_NONE;
    if (id != IR_NONE && t != IR_UNDEFINED)
        ir_value_at(f->m, id)->declared = ir_tensor_type(f->m, t, rank, dims);
    return id;
}

static str inner_name(foreign *f, str base, const char *what)
{
    str name = ir_kit_numbered(&f->kit, base, "/", 0);
    return name.p ? ir_kit_numbered(&f->kit, name, what, 0) : name;
}

ir_id foreign_inner(foreign *f, str base, const char *what)
{
    str name = inner_name(f, base, what);
    return name.p ? foreign_value(f, name, IR_UNDEFINED, -1, NULL) : IR_NONE;
}

ir_id foreign_inner_like(foreign *f, str base, const char *what, ir_id like)
{
    ir_id id = foreign_inner(f, base, what);
    if (id != IR_NONE && like != IR_NONE)
        ir_value_at(f->m, id)->declared = ir_value_at(f->m, like)->declared;
    return id;
}

bool foreign_output(foreign *f, ir_id id)
{
    const ir_value *v = id == IR_NONE ? NULL : ir_value_at(f->m, id);
    if (v && (v->producer == IR_NONE || v->flags & IR_VALUE_OUTPUT)) {
        str name = v->name;
        ir_id own = foreign_inner_like(f, name, "output", id);
        foreign_unary(f, "Identity", name, id, own);
        id = own;
    }
    return id != IR_NONE && ir_add_output(f->m, 0, id);
}

static ir_id own_constant(foreign *f, str name, ir_tensor *t, uint32_t flags)
{
    str own = t ? ir_kit_name(&f->kit, name.n ? name : STR("constant")) : (str){0};
    if (!own.p)
        return IR_NONE;
    t->name = own;
    return ir_kit_const_of(f->m, f->graph, own, t, flags);
}

void foreign_count(foreign *f, uint64_t elements, uint64_t bytes)
{
    f->m->stored.tensors++;
    f->m->stored.elements = sat_add(f->m->stored.elements, elements);
    f->m->stored.bytes = sat_add(f->m->stored.bytes, bytes);
}

ir_id foreign_slice(foreign *f, str name, const ir_tensor *as, uint64_t offset, uint64_t length)
{
    ir_tensor *t = arena_copy(f->m->arena, as, sizeof *as);
    assert(as->rank == 0 || as->dims);
    if (!t)
        return IR_NONE;
    t->storage = IR_DATA_SLICE;
    t->offset = offset;
    t->length = length;
    return own_constant(f, name, t, 0);
}

ir_id foreign_slice_own(foreign *f, str name, const ir_tensor *as, uint64_t offset, uint64_t length,
                        ir_tensor **own)
{
    *own = NULL;
    ir_id id = foreign_slice(f, name, as, offset, length);
    if (id == IR_NONE)
        return id;
    ir_value *v = ir_value_at(f->m, id);
    *own = arena_copy(f->m->arena, v->constant, sizeof **own);
    if (!*own)
        return IR_NONE;
    v->constant = *own;
    return id;
}

typedef struct splat {
    ir_maker maker;
    unsigned size;
    uint8_t item[8];
} splat;

static assay_status make_splat(void *ctx, const ir_reader *r, uint64_t from, size_t n, void *buf,
                               assay_error *err)
{
    const splat *s = ctx;
    uint8_t *p = buf;
    (void)r;
    (void)err;
    for (size_t i = 0; i < n; i++)
        p[i] = s->item[(from + i) % s->size];
    return ASSAY_OK;
}

bool foreign_splat(foreign *f, ir_tensor *t, const void *item)
{
    splat *s = ARENA_NEW(f->m->arena, splat);
    bool small = t->size_bytes <= FOREIGN_INLINE;
    uint8_t *bytes = small ? arena_alloc(f->m->arena, (size_t)t->size_bytes + 1) : NULL;
    assert(ir_dtype_get(t->dtype)->bits >= 8 && ir_dtype_get(t->dtype)->bits <= 64);
    if (!s || (small && !bytes))
        return false;
    s->size = ir_dtype_get(t->dtype)->bits / 8u;
    s->maker = (ir_maker){.ctx = s, .make = make_splat};
    memcpy(s->item, item, s->size);
    if (!small) {
        ir_set_maker(t, &s->maker);
        return true;
    }
    make_splat(s, NULL, 0, (size_t)t->size_bytes, bytes, NULL);
    t->storage = IR_DATA_INLINE;
    t->bytes = bytes;
    return true;
}

static ir_id made_constant(foreign *f, str base, const char *what, ir_tensor *t, const void *bytes)
{
    str name = inner_name(f, base, what);
    if (!t || !name.p)
        return IR_NONE;
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(f->m->arena, bytes, (size_t)t->size_bytes);
    return t->bytes || !t->size_bytes ? own_constant(f, name, t, IR_VALUE_NOT_PARAM) : IR_NONE;
}

ir_id foreign_ints(foreign *f, str base, const char *what, const int64_t *list, uint32_t n)
{
    int64_t dim = n;
    ir_tensor *t = ir_make_tensor_borrowed(f->m, STR(""), IR_INT64, 1, &dim);
    static const int64_t none;
    return made_constant(f, base, what, t, n ? list : &none);
}

ir_id foreign_floats(foreign *f, str base, const char *what, const float *list, uint32_t n)
{
    int64_t dim = n;
    ir_tensor *t = ir_make_tensor_borrowed(f->m, STR(""), IR_FLOAT32, 1, &dim);
    static const float none;
    return made_constant(f, base, what, t, n ? list : &none);
}

ir_id foreign_number(foreign *f, str base, const char *what, ir_dtype t, double v)
{
    uint8_t bytes[8] = {0};
    int64_t whole = (int64_t)v;
    float single = (float)v;
    uint16_t half = t == IR_BFLOAT16 ? ir_bfloat_of(single) : ir_half_of(single);
    if (t == IR_FLOAT32)
        memcpy(bytes, &single, sizeof single);
    else if (t == IR_FLOAT64)
        memcpy(bytes, &v, sizeof v);
    else if (ir_is_float(t))
        memcpy(bytes, &half, sizeof half);
    else
        memcpy(bytes, &whole, sizeof whole);
    return made_constant(f, base, what, ir_make_tensor_borrowed(f->m, STR(""), t, 0, NULL), bytes);
}

/* ---- nodes ---- */

ir_id foreign_add(foreign *f, const foreign_node *n)
{
    ir_kit_node node = {.op = n->op,
                        .domain = n->domain,
                        .attrs = n->attrs,
                        .n_attrs = n->n_attrs,
                        .proto = {.name = ir_kit_name(&f->nodes, n->name),
                                  .graph = f->graph,
                                  .call = IR_NONE,
                                  .inputs = n->in,
                                  .outputs = n->out,
                                  .n_inputs = n->n_in,
                                  .n_outputs = n->n_out}};
    node.proto.version = ir_opset_version(f->m, str_of(n->domain ? n->domain : ""));
    return ir_kit_add(f->m, &node);
}

ir_id foreign_unary(foreign *f, const char *op, str name, ir_id in, ir_id out)
{
    return foreign_add(
        f, &(foreign_node){.op = op, .name = name, .in = &in, .n_in = 1, .out = &out, .n_out = 1});
}

ir_id foreign_binary(foreign *f, const char *op, str name, ir_id a, ir_id b, ir_id out)
{
    ir_id in[] = {a, b};
    return foreign_add(
        f, &(foreign_node){.op = op, .name = name, .in = in, .n_in = 2, .out = &out, .n_out = 1});
}

/* Behind the attributes that it has. */
static bool attach(foreign *f, ir_id node, ir_attr a)
{
    ir_node *n = ir_node_at(f->m, node);
    ir_attr *list = ARENA_ARRAY(f->m->arena, ir_attr, (size_t)n->n_attrs + 1);
    if (!list)
        return false;
    if (n->n_attrs)
        memcpy(list, n->attrs, n->n_attrs * sizeof *list);
    list[n->n_attrs] = a;
    n->attrs = list;
    n->n_attrs++;
    return true;
}

bool foreign_attach_graph(foreign *f, ir_id node, const char *attr, ir_id graph)
{
    ir_attr a = {.name = str_of(attr), .kind = IR_ATTR_GRAPH, .n = 1};
    a.v.graph = graph;
    return attach(f, node, a);
}

bool foreign_attach_texts(foreign *f, ir_id node, const char *attr, const str *list, uint32_t n)
{
    ir_attr a = {.name = str_of(attr), .kind = IR_ATTR_STRINGS, .n = n};
    a.v.strings = arena_copy(f->m->arena, list, n * sizeof *list);
    return a.v.strings && attach(f, node, a);
}

bool foreign_attach_floats(foreign *f, ir_id node, const char *attr, const double *list, uint32_t n)
{
    ir_attr a = {.name = str_of(attr), .kind = IR_ATTR_FLOATS, .n = n};
    a.v.floats = arena_copy(f->m->arena, list, n * sizeof *list);
    return a.v.floats && attach(f, node, a);
}
