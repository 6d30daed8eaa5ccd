/* TFLite models: the model, its subgraphs and their operators; see tflite.h. */
#include "formats/tflite/tflite.h"

#include <string.h>

#include "formats/foreign_layer.h"
#include "formats/tflite/tflite_impl.h"

enum { M_VERSION, M_CODES, M_SUBGRAPHS, M_DESCRIPTION, M_BUFFERS, M_METADATA = 6, M_SIGNATURES };
enum { C_OLD_BUILTIN, C_CUSTOM, C_VERSION, C_BUILTIN };
enum { S_TENSORS, S_INPUTS, S_OUTPUTS, S_OPERATORS, S_NAME };
enum { O_CODE, O_INPUTS, O_OUTPUTS, O_OPTIONS = 4, O_CUSTOM = 5, O_OPTIONS_2 = 12 };
enum { G_KEY = 2, G_SUBGRAPH = 4 };

/* ---- nodes ---- */

static void add_activation(tfl_op *o, ir_id from)
{
    static const struct {
        const char *op;
        double low, high;
    } rows[] = {{0},           {"Relu", 0, 0}, {"Clip", -1, 1}, {"Clip", 0, 6}, {"Tanh", 0, 0},
                {"Sign", 0, 0}};
    uint64_t at = flat_u8(o->r->flat, o->options, o->row->activation - 1u, 0);
    const char *op = rows[at].op;
    str name = ir_kit_numbered(&o->f->kit, o->name, "/", 0);
    ir_id in[3] = {from};
    uint32_t n = 1;
    if (strcmp(op, "Clip") == 0) {
        in[n++] = foreign_number(o->f, o->name, "low", IR_FLOAT32, rows[at].low);
        in[n++] = foreign_number(o->f, o->name, "high", IR_FLOAT32, rows[at].high);
    }
    name = name.p ? ir_kit_numbered(&o->f->kit, name, op, 0) : o->name;
    foreign_add(
        o->f,
        &(foreign_node){.op = op, .name = name, .in = in, .n_in = n, .out = &o->first, .n_out = 1});
}

/* Whether the operator has a fused activation that is known; those of newer schemas are left out with a note. */
static bool has_activation(tfl_op *o)
{
    uint64_t at = o->row && o->row->activation
                      ? flat_u8(o->r->flat, o->options, o->row->activation - 1u, 0)
                      : 0;
    if (at > 5)
        notes_add(&o->f->m->notes, "activation-unknown", o->name, NULL,
                  "The fused activation %llu is unknown and not counted.", (unsigned long long)at);
    return at > 0 && at <= 5;
}

/* What is clipped is rounded first, as the kernels do it: it has the parameters of what comes out. */
static void share_parameters(tfl_op *o, ir_id inner)
{
    uint64_t at = flat_u8(o->r->flat, o->options, o->row->activation - 1u, 0);
    if (inner != IR_NONE && o->first != IR_NONE && at <= 3)
        ir_value_at(o->f->m, inner)->quant = ir_value_at(o->f->m, o->first)->quant;
}

ir_id tfl_make(tfl_op *o, const foreign_node *n)
{
    foreign_node node = *n;
    ir_id inner = IR_NONE;
    bool fused = has_activation(o);
    if (fused) {
        inner = foreign_inner_like(o->f, o->name, "pre_activation", o->first);
        share_parameters(o, inner);
        node.out = &inner;
        node.n_out = 1;
    }
    ir_id id = foreign_add(o->f, &node);
    if (fused && inner != IR_NONE)
        add_activation(o, inner);
    return id;
}

ir_id tfl_node(tfl_op *o, const char *domain, const char *op, const ir_id *in, uint32_t n_in,
               ir_attr_spec *attrs)
{
    return tfl_make(o, &(foreign_node){.op = op,
                                       .domain = domain,
                                       .name = o->name,
                                       .in = in,
                                       .n_in = n_in,
                                       .out = o->out,
                                       .n_out = o->n_out,
                                       .attrs = attrs,
                                       .n_attrs = ir_attr_specs(attrs)});
}

ir_id tfl_step(tfl_op *o, const char *op, const ir_id *in, uint32_t n_in, ir_attr_spec *attrs)
{
    return layer_step(&(foreign_layer){.f = o->f, .name = o->name}, op, in, n_in, attrs);
}

/* ---- operators ---- */

/* The sizes of an unknown operator's output by the file. An open first axis alone is the batch, whose size is that of
 * the inputs; of several open axes nothing is known. */
static const int64_t *unknown_sizes(const tfl_tensor *t)
{
    for (int d = 1; d < t->rank; d++)
        if (t->open[d] < 0)
            return t->open;
    return t->dims;
}

/* An operator without a row: its name, its inputs, and outputs of the shapes that the file gives them. */
static void add_unknown(tfl_op *o, const char *name)
{
    for (uint32_t i = 0; i < o->n_out; i++) {
        const tfl_tensor *t = tfl_tensor_of(o, true, i);
        ir_value *v = t && o->out[i] != IR_NONE ? ir_value_at(o->f->m, o->out[i]) : NULL;
        if (v && t->dtype != IR_UNDEFINED)
            v->declared = ir_tensor_type(o->f->m, t->dtype, t->rank, unknown_sizes(t));
    }
    foreign_add(o->f, &(foreign_node){.op = name,
                                      .domain = TFL_DOMAIN,
                                      .name = o->name,
                                      .in = o->in,
                                      .n_in = o->n_in,
                                      .out = o->out,
                                      .n_out = o->n_out});
}

static assay_status map_operator(tfl_op *o, const tfl_code *code)
{
    bool mapped = false;
    const char *name = o->row ? o->row->name : "UNKNOWN";
    if (code->builtin == TFL_CUSTOM && code->custom.n)
        name = code->custom.p;
    else if (!o->row)
        name = arena_printf(o->f->m->arena, "BUILTIN_%u", code->builtin);
    bool enough = o->row && o->n_in >= o->row->least_in && (o->n_out > 0 || !o->row->least_in);
    for (uint32_t i = 0; enough && i < o->row->least_in; i++)
        enough = o->in[i] != IR_NONE;
    if (enough && o->row->map)
        TRY(o->row->map(o, &mapped));
    else if (enough && o->row->op)
        mapped = tfl_node(o, NULL, o->row->op, o->in, o->n_in, NULL) != IR_NONE;
    if (!mapped && name)
        add_unknown(o, name);
    return flat_status(o->r->flat);
}

static const int64_t *read_indices(tfl_reader *r, const tfl_scope *s, flat_vector v)
{
    int64_t *list = ARENA_ARRAY(r->f.scratch, int64_t, (size_t)v.n + 1);
    if (v.n > TFL_MAX_ITEMS)
        flat_fail(r->flat, v.at, "an operator has too many inputs or outputs");
    for (uint32_t i = 0; list && i < v.n && !r->flat->failed; i++) {
        list[i] = flat_i32_at(r->flat, v, i);
        if (list[i] < -1 || list[i] >= s->sub->n_tensors)
            flat_fail(r->flat, v.at, "an operator names a tensor that does not exist");
    }
    return list;
}

static assay_status open_operator(tfl_op *o, flat_table t)
{
    tfl_reader *r = o->r;
    flat_vector in = flat_list(r->flat, t, O_INPUTS, 4), out = flat_list(r->flat, t, O_OUTPUTS, 4);
    o->options = flat_sub(r->flat, t, O_OPTIONS);
    o->options2 = flat_sub(r->flat, t, O_OPTIONS_2);
    o->custom = flat_list(r->flat, t, O_CUSTOM, 1);
    o->n_in = in.n;
    o->n_out = out.n;
    o->in_at = read_indices(r, o->scope, in);
    o->out_at = read_indices(r, o->scope, out);
    o->in = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)in.n + 1);
    o->out = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)out.n + 1);
    TRY(flat_status(r->flat));
    TRY_MEMORY(o->in_at && o->out_at && o->in && o->out, r->f.err);
    for (uint32_t i = 0; i < in.n; i++)
        o->in[i] = tfl_use(r, o->scope, o->in_at[i]);
    for (uint32_t i = 0; i < out.n; i++)
        o->out[i] = tfl_define(r, o->scope, o->out_at[i], false);
    o->first = out.n ? o->out[0] : IR_NONE;
    return flat_status(r->flat);
}

static assay_status read_operator(tfl_reader *r, tfl_scope *s, flat_table t)
{
    tfl_op o = {.r = r, .f = &r->f, .scope = s};
    uint64_t code = flat_u32(r->flat, t, O_CODE, 0);
    if (!r->flat->failed && code >= r->n_codes)
        flat_fail(r->flat, t.at, "an operator has no code");
    if (++r->n_operators > FOREIGN_MAX_NODES)
        flat_fail(r->flat, t.at, "too many operators");
    TRY(flat_status(r->flat));
    o.row = r->codes[code].builtin == TFL_CUSTOM ? tfl_custom_of(r->codes[code].custom) : NULL;
    if (!o.row)
        o.row = tfl_builtin_of(r->codes[code].builtin);
    TRY(open_operator(&o, t));
    o.name = o.first != IR_NONE ? ir_value_at(r->f.m, o.first)->name
                                : str_of(o.row ? o.row->name : "operator");
    TRY(map_operator(&o, &r->codes[code]));
    return arena_failed(r->f.m->arena) || arena_failed(r->f.scratch) ? err_no_memory(r->f.err)
                                                                     : ASSAY_OK;
}

assay_status tfl_read_operators(tfl_reader *r, tfl_scope *s)
{
    for (uint32_t i = 0; i < s->sub->operators.n; i++)
        TRY(read_operator(r, s, flat_table_at(r->flat, s->sub->operators, i)));
    return flat_status(r->flat);
}

/* ---- subgraphs ---- */

bool tfl_scope_open(tfl_reader *r, uint64_t subgraph, const tfl_scope *outer, tfl_scope *s,
                    assay_status *status)
{
    *status = ASSAY_OK;
    *s = (tfl_scope){.outer = outer};
    for (const tfl_scope *o = outer; o; o = o->outer)
        if (subgraph < r->n_subgraphs && o->sub == &r->subgraphs[subgraph])
            flat_fail(r->flat, o->sub->table.at, "a subgraph runs itself");
    if (!r->flat->failed && (subgraph >= r->n_subgraphs || r->depth >= TFL_MAX_DEPTH))
        flat_fail(r->flat, 0,
                  "an operator runs a subgraph that does not exist or is nested too deeply");
    if (!r->flat->failed) {
        s->sub = &r->subgraphs[subgraph];
        *status = tfl_read_tensors(r, s->sub);
        s->values = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)s->sub->n_tensors + 1);
    }
    for (uint32_t i = 0; s->values && i < s->sub->n_tensors; i++)
        s->values[i] = IR_NONE;
    if (*status == ASSAY_OK)
        *status = r->flat->failed ? flat_status(r->flat)
                  : s->values     ? ASSAY_OK
                                  : err_no_memory(r->f.err);
    return *status == ASSAY_OK;
}

static void note_open_sizes(tfl_reader *r, const tfl_tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->open[d] < 0)
            notes_add(
                &r->f.m->notes, "dynamic-input", t->name,
                "Use --input-shape or --batch to set another size.",
                "The file leaves axis %d of this input open. The size %lld, which it has when "
                "nothing sets it, is used.",
                d, (long long)t->dims[d]);
}

static assay_status read_inputs(tfl_reader *r, tfl_scope *s)
{
    for (uint32_t i = 0; i < s->sub->inputs.n; i++) {
        int64_t at = flat_i32_at(r->flat, s->sub->inputs, i);
        if (at < 0)
            continue;
        if (at >= s->sub->n_tensors) {
            flat_fail(r->flat, s->sub->inputs.at, "an input does not exist");
            break;
        }
        tfl_tensor *t = &s->sub->tensors[at];
        if (t->length || s->values[at] != IR_NONE)
            continue;
        if (t->rank < 0)
            t->rank = 0;
        note_open_sizes(r, t);
        ir_id id = tfl_define(r, s, at, true);
        if (id == IR_NONE || !ir_add_input(r->f.m, 0, id))
            return err_no_memory(r->f.err);
    }
    return flat_status(r->flat);
}

static assay_status read_outputs(tfl_reader *r, tfl_scope *s)
{
    for (uint32_t i = 0; i < s->sub->outputs.n; i++) {
        int64_t at = flat_i32_at(r->flat, s->sub->outputs, i);
        if (!r->flat->failed && (at < 0 || at >= s->sub->n_tensors))
            flat_fail(r->flat, s->sub->outputs.at, "an output does not exist");
        TRY(flat_status(r->flat));
        ir_id id = tfl_use(r, s, at);
        TRY(flat_status(r->flat));
        TRY_MEMORY(foreign_output(&r->f, id), r->f.err);
    }
    return flat_status(r->flat);
}

static assay_status read_main(tfl_reader *r)
{
    tfl_scope s;
    assay_status status;
    if (!tfl_scope_open(r, 0, NULL, &s, &status))
        return status;
    ir_graph_at(r->f.m, 0)->name = s.sub->name;
    TRY(read_inputs(r, &s));
    TRY(tfl_read_operators(r, &s));
    return read_outputs(r, &s);
}

/* ---- the model ---- */

static assay_status read_codes(tfl_reader *r, flat_vector list)
{
    r->codes = ARENA_ARRAY(r->f.scratch, tfl_code, (size_t)list.n + 1);
    r->n_codes = list.n;
    for (uint32_t i = 0; r->codes && i < list.n && !r->flat->failed; i++) {
        flat_table t = flat_table_at(r->flat, list, i);
        int64_t old = flat_i8(r->flat, t, C_OLD_BUILTIN, 0),
                now = flat_i32(r->flat, t, C_BUILTIN, 0);
        int64_t code = now > old ? now : old;
        r->codes[i].builtin = code < 0 ? UINT32_MAX : (uint32_t)code;
        r->codes[i].custom = flat_text(r->flat, t, C_CUSTOM, r->f.m->arena, FOREIGN_MAX_NAME);
    }
    return r->codes ? flat_status(r->flat) : err_no_memory(r->f.err);
}

static assay_status read_subgraphs(tfl_reader *r, flat_vector list)
{
    r->subgraphs = ARENA_ARRAY(r->f.scratch, tfl_subgraph, (size_t)list.n + 1);
    r->n_subgraphs = list.n;
    for (uint32_t i = 0; r->subgraphs && i < list.n && !r->flat->failed; i++) {
        tfl_subgraph *s = &r->subgraphs[i];
        s->table = flat_table_at(r->flat, list, i);
        s->inputs = flat_list(r->flat, s->table, S_INPUTS, 4);
        s->outputs = flat_list(r->flat, s->table, S_OUTPUTS, 4);
        s->operators = flat_list(r->flat, s->table, S_OPERATORS, 4);
        s->name = flat_text(r->flat, s->table, S_NAME, r->f.m->arena, FOREIGN_MAX_NAME);
    }
    return r->subgraphs ? flat_status(r->flat) : err_no_memory(r->f.err);
}

/* What operators read, also in subgraphs that do not run. */
static assay_status count_constants(tfl_reader *r, tfl_subgraph *s)
{
    TRY(tfl_read_tensors(r, s));
    for (uint32_t i = 0; i < s->operators.n && !r->flat->failed; i++) {
        flat_vector in = flat_list(r->flat, flat_table_at(r->flat, s->operators, i), O_INPUTS, 4);
        for (uint32_t k = 0; k < in.n && k < TFL_MAX_ITEMS; k++) {
            int64_t at = flat_i32_at(r->flat, in, k);
            if (at >= 0 && at < s->n_tensors)
                tfl_count_constant(r, &s->tensors[at]);
        }
    }
    return flat_status(r->flat);
}

/* The main subgraph is the first; what other signatures run is another model in the same file. */
static void read_signatures(tfl_reader *r, flat_vector list)
{
    for (uint32_t i = 0; i < list.n && !r->flat->failed; i++) {
        flat_table t = flat_table_at(r->flat, list, i);
        str key = flat_text(r->flat, t, G_KEY, r->f.m->arena, FOREIGN_MAX_NAME);
        uint64_t at = flat_u32(r->flat, t, G_SUBGRAPH, 0);
        if (at == 0 && key.n)
            ir_graph_at(r->f.m, 0)->name = key;
        else if (at)
            notes_add(&r->f.m->notes, "signature-other", key, NULL,
                      "The file has another signature, which runs subgraph %llu. This result is of "
                      "subgraph 0.",
                      (unsigned long long)at);
    }
}

static assay_status read_model(tfl_reader *r)
{
    flat_table m = flat_root(r->flat);
    uint64_t version = flat_u32(r->flat, m, M_VERSION, 0);
    TRY(flat_status(r->flat));
    if (version != 3)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "TFLite schema version %llu; only version 3 is supported",
                        (unsigned long long)version);
    r->f.m->producer = flat_text(r->flat, m, M_DESCRIPTION, r->f.m->arena, FOREIGN_MAX_NAME);
    r->f.m->ir_version = (int64_t)version;
    r->buffers = flat_list(r->flat, m, M_BUFFERS, 4);
    TRY(read_codes(r, flat_list(r->flat, m, M_CODES, 4)));
    TRY(read_subgraphs(r, flat_list(r->flat, m, M_SUBGRAPHS, 4)));
    if (r->n_subgraphs == 0)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "the model has no subgraph");
    TRY(read_main(r));
    for (uint32_t i = 0; i < r->n_subgraphs; i++)
        TRY(count_constants(r, &r->subgraphs[i]));
    read_signatures(r, flat_list(r->flat, m, M_SIGNATURES, 4));
    tfl_tell_metadata(r, flat_list(r->flat, m, M_METADATA, 4),
                      flat_list(r->flat, m, M_SIGNATURES, 4));
    return flat_status(r->flat);
}

assay_status tflite_read(source *src, const char *path, size_t limit, ir_model **out,
                         assay_error *err)
{
    tfl_reader r = {.flat = flat_new(src, err)};
    (void)path;
    assay_status status = r.flat ? foreign_new(&r.f, TFL_DOMAIN, src, limit, err)
                                 : err_no_memory(err);
    if (status == ASSAY_OK)
        status = read_model(&r);
    flat_free(r.flat);
    r.f.err = err;
    return foreign_done(&r.f, status, out);
}
