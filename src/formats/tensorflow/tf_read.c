/* TensorFlow models: the file, its signature, inputs and outputs; see tensorflow.h.
 *
 *   SavedModel: 1 saved_model_schema_version, 2 MetaGraphDef
 *   MetaGraphDef: 1 meta_info_def (5 tensorflow_version), 2 graph_def, 5 signature_def (1 key, 2 SignatureDef)
 *   SignatureDef: 1 inputs, 2 outputs (1 key, 2 TensorInfo), 3 method_name
 *   TensorInfo: 1 name ("node:0"), 2 dtype, 3 tensor_shape */
#include "formats/tensorflow/tensorflow.h"

#include <stdlib.h>
#include <string.h>

#include "formats/tensorflow/tf_impl.h"
#include "ir/made.h"

enum { SM_META = 2, META_INFO = 1, META_GRAPH, META_SIGNATURE = 5, INFO_VERSION = 5 };
enum { MAX_PORTS = 4096 };

/* ---- signatures ---- */

typedef struct port {
    str key, tensor;
    ir_dtype dtype;
    int rank; /* -1: unknown */
    int64_t dims[IR_MAX_RANK];
} port;

typedef struct ports {
    VEC(port) list;
} ports;

static str text_at(tf_reader *r, cursor message, uint32_t field)
{
    wire_field f;
    if (!wire_find(message, field, &f) || f.type != WIRE_LEN)
        return (str){0};
    return cursor_str(&f.body, cursor_left(&f.body), r->f.m->arena, FOREIGN_MAX_NAME);
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const port *)a)->key, ((const port *)b)->key);
}

/* The entries of a map have no order in the file: they are sorted by key. */
static assay_status read_ports(tf_reader *r, cursor signature, uint32_t field, ports *out)
{
    wire_field f;
    while (wire_next(&signature, &f)) {
        if (f.number != field || f.type != WIRE_LEN)
            continue;
        cursor info = wire_sub(f.body, 2);
        port p = {.key = text_at(r, f.body, 1), .tensor = text_at(r, info, 1), .rank = -1};
        p.dtype = tf_dtype_of(wire_find_u64(info, 2, 0));
        if (wire_has(info, 3) && !tf_shape_of(wire_sub(info, 3), &p.rank, p.dims))
            p.rank = -1;
        if (out->list.n >= MAX_PORTS)
            return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "too many inputs or outputs");
        TRY_MEMORY(VEC_ADD(r->f.scratch, &out->list, p), r->f.err);
    }
    if (out->list.n)
        qsort(out->list.items, out->list.n, sizeof *out->list.items, by_key);
    return wire_status(&signature);
}

/* "serving_default", or the first that has outputs; src NULL: none. */
static cursor find_signature(tf_reader *r, cursor meta, str *name)
{
    cursor found = {.src = NULL, .err = r->f.err};
    wire_field f;
    while (wire_next(&meta, &f)) {
        if (f.number != META_SIGNATURE || f.type != WIRE_LEN)
            continue;
        str key = text_at(r, f.body, 1);
        cursor signature = wire_sub(f.body, 2);
        bool best = str_is(key, "serving_default");
        if (str_is(key, "__saved_model_init_op") || !wire_has(signature, 2) || (found.src && !best))
            continue;
        found = signature;
        *name = key;
        if (best)
            break;
    }
    return found;
}

static void note_signatures(tf_reader *r, cursor meta, str chosen)
{
    wire_field f;
    while (wire_next(&meta, &f)) {
        str key = f.number == META_SIGNATURE && f.type == WIRE_LEN ? text_at(r, f.body, 1)
                                                                   : (str){0};
        if (key.n && !str_eq(key, chosen) && !str_is(key, "__saved_model_init_op"))
            notes_add(&r->f.m->notes, "signature-other", key, NULL,
                      "The file has another signature. This result is of '" STR_FMT "'.",
                      STR_ARG(chosen));
    }
}

/* ---- inputs and outputs ---- */

static assay_status bind_input(tf_reader *r, tf_scope *s, const port *p)
{
    tf_in in = tf_parse_input(&r->main, p->tensor);
    int rank = p->rank;
    int64_t dims[IR_MAX_RANK];
    if (in.node == TF_NONE)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                        "the signature names '" STR_FMT "', which is missing", STR_ARG(p->tensor));
    if (s->slots[in.node].state == TF_DONE)
        return ASSAY_OK; /* two keys for one placeholder */
    memcpy(dims, p->dims, sizeof dims);
    if (rank < 0 && !tf_static_shape(r, (tf_ref){s, in.node, in.out}, &rank, dims))
        rank = -1;
    ir_id id = foreign_value(&r->f, p->key, p->dtype, rank, dims);
    if (id == IR_NONE || !ir_add_input(r->f.m, 0, id) || !tf_bind(r, s, in.node, id, in.out + 1))
        return err_no_memory(r->f.err);
    return ASSAY_OK;
}

/* Outputs are called what the signature calls them. */
static void name_output(tf_reader *r, str key)
{
    const ir_graph *g = ir_graph_at(r->f.m, 0);
    str own = ir_kit_name(&r->f.kit, key);
    if (own.p)
        ir_value_at(r->f.m, g->outputs.items[g->outputs.n - 1])->name = own;
}

static assay_status add_output(tf_reader *r, tf_scope *s, tf_in in, str key, bool by_signature)
{
    tf_ref ref = {s, in.node, in.out};
    tf_node *n = &r->main.nodes.items[in.node];
    n->n_out = n->n_out > in.out ? n->n_out : in.out + 1;
    TRY(tf_build(r, &ref, 1));
    ir_id id = tf_use(r, ref);
    if (id == IR_NONE) {
        notes_add(&r->f.m->notes, "output-unknown", key, NULL,
                  "This output is not a supported tensor. It is left out.");
        return ASSAY_OK;
    }
    TRY_MEMORY(foreign_output(&r->f, id), r->f.err);
    if (by_signature)
        name_output(r, key);
    return tf_failed(r);
}

static assay_status read_signature(tf_reader *r, tf_scope *s, cursor signature)
{
    ports in = {.list = {0}}, out = {.list = {0}};
    TRY(read_ports(r, signature, 1, &in));
    TRY(read_ports(r, signature, 2, &out));
    for (uint32_t i = 0; i < in.list.n; i++)
        if (in.list.items[i].tensor.n) /* others are sparse */
            TRY(bind_input(r, s, &in.list.items[i]));
    for (uint32_t i = 0; i < out.list.n; i++) {
        const port *p = &out.list.items[i];
        tf_in at = tf_parse_input(&r->main, p->tensor);
        if (at.node == TF_NONE)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                            "the signature names '" STR_FMT "', which is missing",
                            STR_ARG(p->tensor));
        TRY(add_output(r, s, at, p->key, true));
    }
    return ASSAY_OK;
}

/* Training, summaries and files: nothing that a network returns. */
static bool is_output(const tf_node *n)
{
    static const char *const kinds[] = {"Summary",  "Apply",   "Save",       "Restore", "Assign",
                                        "Iterator", "Dataset", "Initialize", "Queue",   "Scatter"};
    if (n->n_uses > 0 || (n->row && (n->row->pass == TF_SINK || n->row->pass == TF_RESOURCE ||
                                     n->row->pass == TF_CONSTANT || n->row->pass == TF_VARIABLE ||
                                     n->row->map == tf_placeholder)))
        return false;
    for (size_t i = 0; !n->row && i < sizeof kinds / sizeof *kinds; i++)
        if (str_contains(n->op, kinds[i]))
            return false;
    return true;
}

/* A loop has an Exit for each variable, read or not: those are outputs only where there are no others. */
static assay_status read_sinks(tf_reader *r, tf_scope *s)
{
    for (int exits = 0; exits < 2 && ir_graph_at(r->f.m, 0)->outputs.n == 0; exits++)
        for (uint32_t i = 0; i < r->main.nodes.n; i++) {
            const tf_node *n = &r->main.nodes.items[i];
            if (is_output(n) && (n->row && n->row->map == tf_exit) == (exits == 1) &&
                !tf_in_frame(r, s, i))
                TRY(add_output(r, s, (tf_in){i, 0}, n->name, false));
        }
    return ASSAY_OK;
}

/* ---- content: the file itself, then the data files of the checkpoint ---- */

typedef struct tf_files {
    ir_reader first; /* of the file */
    uint32_t n;
    source **shards;
    uint64_t *starts;
} tf_files;

static assay_status read_part(void *ctx, const ir_tensor *t, void *buf, assay_error *err)
{
    const tf_files *files = ctx;
    for (uint32_t i = files->n; i > 0 && t->storage == IR_DATA_SLICE; i--)
        if (t->offset >= files->starts[i - 1] && files->shards[i - 1])
            return source_read(files->shards[i - 1], t->offset - files->starts[i - 1], buf,
                               t->size_bytes, err);
    return files->first.read(files->first.ctx, t, buf, err);
}

static void close_files(void *ctx)
{
    tf_files *files = ctx;
    for (uint32_t i = 0; i < files->n; i++)
        source_close(files->shards[i]);
    files->first.close(files->first.ctx);
}

/* Constants of one repeated number are made when they are read: the reader is wrapped. */
static assay_status finish(tf_reader *r, ir_model *m, assay_error *err)
{
    if (r->ck.n_shards) {
        tf_files *files = ARENA_NEW(m->arena, tf_files);
        TRY_MEMORY(files, err);
        *files = (tf_files){m->reader, r->ck.n_shards, r->ck.shards, r->ck.starts};
        m->reader = (ir_reader){.ctx = files, .read = read_part, .close = close_files};
    }
    r->ck.n_shards = 0;
    return ir_reader_wrap(m, err);
}

/* ---- detection ---- */

static bool is_word(const uint8_t *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (p[i] < 0x21 || p[i] > 0x7e)
            return false;
    return n > 0;
}

/* A varint of at most five bytes. */
static bool take_length(const uint8_t **p, const uint8_t *end, uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; shift < 35 && *p < end; shift += 7) {
        uint8_t b = *(*p)++;
        *n |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return true;
    }
    return false;
}

/* 1 a node: 1 its name, 2 its operator, which begins with a capital or "_" unless it is a function. */
static bool is_graph(const uint8_t *p, const uint8_t *end, bool functions)
{
    uint64_t node, name, op;
    if (p == end || *p++ != 0x0a || !take_length(&p, end, &node) || p == end || *p++ != 0x0a ||
        !take_length(&p, end, &name) || name >= (uint64_t)(end - p) || !is_word(p, name))
        return false;
    p += name;
    if (*p++ != 0x12 || !take_length(&p, end, &op) || op > (uint64_t)(end - p) || !is_word(p, op))
        return false;
    return node >= name + op && (functions || *p == '_' || (*p >= 'A' && *p <= 'Z'));
}

static const uint8_t *skip_varint(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p & 0x80)
        p++;
    return p < end ? p + 1 : end;
}

/* 1 version 1, 2 a meta graph, which begins with its info (1) or its graph (2). The info begins with its operators (2), its
 * tags (4) or the version (5); at this place, Core ML has the name of an input (1). */
static bool is_saved_model(const uint8_t *p, const uint8_t *end)
{
    if (end - p < 8 || p[0] != 0x08 || p[1] != 0x01 || p[2] != 0x12)
        return false;
    p = skip_varint(p + 3, end);
    if (p == end || (*p != 0x0a && *p != 0x12))
        return false;
    bool graph = *p == 0x12;
    p = skip_varint(p + 1, end);
    if (p == end)
        return false;
    return graph ? is_graph(p, end, true) : *p == 0x12 || *p == 0x22 || *p == 0x2a;
}

bool tensorflow_looks_like(const void *head, uint64_t n)
{
    const uint8_t *p = head;
    return is_graph(p, p + n, false) || is_saved_model(p, p + n);
}

/* ---- the file ---- */

static assay_status read_graph(tf_reader *r, cursor graph, cursor meta, const char *path)
{
    str name = {0};
    TRY(tf_read_graph(r, graph));
    tf_scope *s = tf_scope_new(r, &r->main, NULL, STR(""));
    TRY_MEMORY(s && map_init(&r->keys, r->f.scratch, 64), r->f.err);
    cursor signature = meta.src ? find_signature(r, meta, &name) : meta;
    if (meta.src)
        TRY(tf_checkpoint_open(r, path));
    else if (!map_init(&r->ck.by_key, r->f.scratch, 1))
        return err_no_memory(r->f.err);
    tf_find_keys(r, s);
    TRY(tf_failed(r));
    if (signature.src) {
        ir_graph_at(r->f.m, 0)->name = name;
        note_signatures(r, meta, name);
        return read_signature(r, s, signature);
    }
    return read_sinks(r, s);
}

/* Other messages of protobuf have the same suffix: tensors, networks of other frameworks, settings. */
static assay_status check_message(tf_reader *r)
{
    uint8_t head[4096];
    uint64_t size = source_size(r->f.src), n = size < sizeof head ? size : sizeof head;
    TRY(source_read(r->f.src, 0, head, n, r->f.err));
    if (is_graph(head, head + n, true) || is_saved_model(head, head + n))
        return ASSAY_OK;
    return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                    "unsupported format: a .pb file that is neither a TensorFlow graph nor a "
                    "SavedModel. Name a frozen graph or the folder of a SavedModel.");
}

static assay_status read_file(tf_reader *r, const char *path)
{
    TRY(check_message(r));
    cursor all = cursor_at(r->f.src, 0, source_size(r->f.src), r->f.err);
    cursor meta = {.src = NULL, .err = r->f.err}, graph = all;
    wire_field f;
    if (wire_next(&all, &f) && f.number == 1 && f.type == WIRE_VARINT) {
        meta = wire_sub(cursor_at(r->f.src, 0, source_size(r->f.src), r->f.err), SM_META);
        graph = wire_sub(meta, META_GRAPH);
        str version = text_at(r, wire_sub(meta, META_INFO), INFO_VERSION);
        if (version.n)
            r->f.m->producer = str_printf(r->f.m->arena, "TensorFlow " STR_FMT, STR_ARG(version));
    }
    TRY(tf_failed(r));
    TRY(read_graph(r, graph, meta, path));
    TRY(tf_failed(r));
    if (r->f.m->nodes.n == 0 && ir_graph_at(r->f.m, 0)->outputs.n == 0)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "this TensorFlow file has no network: no node of it is an output");
    if (r->absent)
        notes_add(
            &r->f.m->notes, "weights-absent", STR(""),
            "Name the folder of the SavedModel, with its folder variables/.",
            "The values of the variables are missing. Variables are counted by their shapes.");
    return ASSAY_OK;
}

assay_status tensorflow_read(source *src, const char *path, size_t limit, ir_model **out,
                             assay_error *err)
{
    tf_reader r = {.absent = false};
    assay_status status = foreign_new(&r.f, TF_DOMAIN, src, limit, err);
    if (status == ASSAY_OK)
        status = read_file(&r, path);
    uint32_t n_shards = r.ck.n_shards;
    if (status != ASSAY_OK)
        tf_checkpoint_close(&r);
    status = foreign_done(&r.f, status, out);
    if (status == ASSAY_OK && (status = finish(&r, *out, err)) != ASSAY_OK) {
        (*out)->reader = (ir_reader){0};
        ir_model_free(*out);
        *out = NULL;
    } else if (status != ASSAY_OK && n_shards == r.ck.n_shards) {
        tf_checkpoint_close(&r);
    }
    return status;
}
