/* The builder's state: scopes and names, inputs and outputs, constants, nodes. Everything that is
 * written into the model passes here, and with it every check of sizes.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"
#include "base/sbuf.h"
#include "zoo/nn_impl.h"

/* ---- failure ---- */

static void fail_as(nn *b, assay_status status, const char *fmt, va_list ap)
{
    char text[512];
    if (b->failed)
        return;
    b->failed = true;
    b->refused = status == ASSAY_ERR_UNSUPPORTED;
    vsnprintf(text, sizeof text, fmt, ap);
    err_fail(b->err, status, "%s", text);
}

void nn_fail(nn *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_as(b, ASSAY_ERR_USAGE, fmt, ap);
    va_end(ap);
}

void nn_refuse(nn *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_as(b, ASSAY_ERR_UNSUPPORTED, fmt, ap);
    va_end(ap);
}

bool nn_ok(const nn *b)
{
    return !b->failed && !arena_failed(b->model->arena);
}

ir_model *nn_model(nn *b)
{
    return b->model;
}

arena *nn_arena(nn *b)
{
    return b->model->arena;
}

/* ---- shapes ---- */

nn_t nn_shape(ir_dtype t, int rank, const int64_t *dims)
{
    nn_t x = {.id = IR_NONE, .dtype = t, .rank = rank < 0 ? 0 : rank > NN_RANK ? NN_RANK : rank};
    for (int i = 0; i < x.rank; i++)
        x.d[i] = dims[i];
    return x;
}

int64_t nn_elems(nn_t x)
{
    int64_t n = 1;
    for (int i = 0; i < x.rank; i++)
        if (!num_mul(n, x.d[i], &n))
            return INT64_MAX;
    return n;
}

nn_t nn_harmless(nn_t x)
{
    x.id = IR_NONE;
    for (int i = 0; i < x.rank; i++)
        x.d[i] = x.d[i] < 1 || x.d[i] > INT32_MAX ? 1 : x.d[i];
    return x;
}

const char *nn_dims_text(nn *b, nn_t x)
{
    sbuf s = {0};
    sbuf_putc(&s, '[');
    for (int i = 0; i < x.rank; i++)
        sbuf_printf(&s, i ? ",%lld" : "%lld", (long long)x.d[i]);
    sbuf_putc(&s, ']');
    const char *text = arena_strdup(b->scratch, sbuf_cstr(&s));
    sbuf_free(&s);
    return text ? text : "";
}

/* Byte counts must fit too: no element type is wider than 16 bytes. */
static bool fits(const nn_t *x)
{
    for (int i = 0; i < x->rank; i++)
        if (x->d[i] < 0)
            return false;
    return nn_elems(*x) < INT64_MAX / 16;
}

bool nn_check_shape(nn *b, const char *name, const nn_t *x)
{
    if (fits(x))
        return true;
    nn_fail(b, "layer '%s' would have shape %s: the parameters are inconsistent",
            nn_full_name(b, name).p, nn_dims_text(b, *x));
    return false;
}

/* ---- scopes and names ---- */

void nn_push(nn *b, const char *fmt, ...)
{
    va_list ap;
    if (b->depth >= NN_SCOPES) {
        nn_fail(b, "modules are nested deeper than %d levels", NN_SCOPES);
        b->depth++;
        return;
    }
    b->ends[b->depth++] = b->path_n;
    uint32_t at = b->path_n + (b->path_n > 0);
    va_start(ap, fmt);
    int n = vsnprintf(b->path + at, at < NN_PATH ? NN_PATH - at : 0, fmt, ap);
    va_end(ap);
    b->module.p = NULL;
    if (n <= 0)
        return;
    if (at + (uint32_t)n >= NN_PATH) {
        b->path[b->path_n] = 0;
        nn_fail(b, "a module name is longer than %d bytes", NN_PATH);
        return;
    }
    if (b->path_n)
        b->path[b->path_n] = '.';
    b->path_n = at + (uint32_t)n;
}

void nn_pop(nn *b)
{
    if (--b->depth >= NN_SCOPES)
        return;
    b->path_n = b->ends[b->depth];
    b->path[b->path_n] = 0;
    b->module.p = NULL;
}

nn_t nn_leave(nn *b, nn_t x)
{
    nn_pop(b);
    return x;
}

static str scope_module(nn *b)
{
    if (!b->module.p)
        b->module = str_copy(b->model->arena, (str){b->path, b->path_n});
    return b->module.p ? b->module : STR("");
}

str nn_full_name(nn *b, const char *name)
{
    uint32_t n = name ? (uint32_t)strlen(name) : 0, at = b->path_n + (b->path_n && n);
    char *p = n ? arena_alloc(b->model->arena, (size_t)at + n + 1) : NULL;
    if (!n)
        return scope_module(b);
    if (!p)
        return STR("");
    memcpy(p, b->path, b->path_n);
    if (at > b->path_n)
        p[b->path_n] = '.';
    memcpy(p + at, name, n);
    return (str){p, at + n};
}

str nn_unique_name(nn *b, str full)
{
    str name = ir_kit_name(&b->kit, full);
    return name.p ? name : STR("");
}

/* ---- values ---- */

static nn_t nn_constant(nn *b, str full, ir_dtype t, int rank, const int64_t *dims, uint32_t flag,
                        const void *bytes)
{
    nn_t x = nn_shape(t, rank, dims);
    if (!b->failed && !fits(&x))
        nn_fail(b, "weight '" STR_FMT "' would have shape %s: the parameters are inconsistent",
                STR_ARG(full), nn_dims_text(b, x));
    if (b->failed)
        return nn_harmless(x);
    x.id = ir_kit_const(b->model, 0, full, &x, bytes, flag);
    return x.id == IR_NONE ? nn_harmless(x) : x;
}

static nn_t named_once(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims,
                       uint32_t flag)
{
    str full = nn_full_name(b, name);
    uint32_t known = map_get(&b->params, full);
    nn_t x = nn_shape(t, rank, dims);
    if (known == MAP_NONE) {
        x = nn_constant(b, nn_unique_name(b, full), t, rank, dims, flag, NULL);
        if (x.id != IR_NONE)
            map_put(&b->params, full, x.id);
        return x;
    }
    const ir_tensor *old = ir_value_at(b->model, known)->constant;
    if (old->rank != x.rank || memcmp(old->dims, x.d, (size_t)x.rank * sizeof *x.d) != 0)
        nn_fail(b, "weight '" STR_FMT "' is used with two shapes", STR_ARG(full));
    x.id = known;
    return x;
}

nn_t nn_param_of(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims)
{
    return named_once(b, name, t, rank, dims, IR_VALUE_PARAM);
}

nn_t nn_param(nn *b, const char *name, int rank, const int64_t *dims)
{
    return named_once(b, name, IR_FLOAT32, rank, dims, IR_VALUE_PARAM);
}

nn_t nn_buffer(nn *b, const char *name, int rank, const int64_t *dims)
{
    return named_once(b, name, IR_FLOAT32, rank, dims, IR_VALUE_BUFFER);
}

nn_t nn_table_of(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims,
                 const void *bytes)
{
    str full = nn_unique_name(b, nn_full_name(b, name));
    return nn_constant(b, full, t, rank, dims, IR_VALUE_NOT_PARAM, bytes);
}

nn_t nn_table(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims)
{
    return nn_table_of(b, name, t, rank, dims, NULL);
}

nn_t nn_ints_const(nn *b, const char *name, int n, const int64_t *values)
{
    return nn_table_of(b, name, IR_INT64, 1, &(int64_t){n}, values);
}

nn_t nn_float_const(nn *b, const char *name, double value)
{
    return nn_table_of(b, name, IR_FLOAT32, 0, NULL, &(float){(float)value});
}

nn_t nn_floats_const(nn *b, const char *name, int n, const double *values)
{
    float *copy = n > 0 ? ARENA_ARRAY(b->scratch, float, (size_t)n) : NULL;
    for (int i = 0; copy && i < n; i++)
        copy[i] = (float)values[i];
    return nn_table_of(b, name, IR_FLOAT32, 1, &(int64_t){n}, copy);
}

/* ---- nodes ---- */

static int version_of(nn *b, const char *domain)
{
    if (!domain || !*domain)
        return NN_OPSET;
    ir_set_opset(b->model, str_of(domain), 1);
    return 1;
}

enum { CALL_MAX = 256 }; /* inputs or outputs of one node in small arrays */

static bool may_emit(nn *b, const nn_call *call)
{
    if (b->failed || arena_failed(b->model->arena))
        return false;
    if (b->model->nodes.n >= NN_NODES_MAX)
        nn_fail(b, "the model has more than %d layers", NN_NODES_MAX);
    if (call->n_in > CALL_MAX || call->n_out > CALL_MAX)
        nn_fail(b, "layer '%s' joins more than %d tensors", call->name, CALL_MAX);
    for (int i = 0; i < call->n_out && !b->failed; i++)
        nn_check_shape(b, call->name, &call->out[i]);
    return !b->failed;
}

static void add_outputs(nn *b, const nn_call *call, str node, ir_id *ids)
{
    for (int i = 0; i < call->n_out; i++) {
        str name = ir_kit_numbered(&b->kit, node, "_out", (uint32_t)i);
        ids[i] = ir_kit_value(&b->kit, 0, nn_unique_name(b, name), &call->out[i]);
        call->out[i].id = ids[i];
    }
}

static str module_of(nn *b, const nn_call *call, str full)
{
    if (call->of)
        return nn_full_name(b, call->of);
    return call->module ? full : scope_module(b);
}

void nn_emit(nn *b, const nn_call *call)
{
    ir_id in[CALL_MAX], out[CALL_MAX];
    for (int i = 0; i < call->n_out; i++)
        call->out[i].id = IR_NONE;
    if (!may_emit(b, call)) {
        for (int i = 0; i < call->n_out; i++)
            call->out[i] = nn_harmless(call->out[i]);
        return;
    }
    for (int i = 0; i < call->n_in; i++)
        in[i] = call->in[i].id;
    str full = nn_full_name(b, call->name && *call->name ? call->name
                               : call->module            ? ""
                                                         : call->op);
    str name = nn_unique_name(b, full);
    add_outputs(b, call, name, out);
    ir_kit_add(b->model, &(ir_kit_node){.proto = {.name = name,
                                                  .module = module_of(b, call, full),
                                                  .version = version_of(b, call->domain),
                                                  .call = IR_NONE,
                                                  .inputs = in,
                                                  .outputs = out,
                                                  .n_inputs = (uint32_t)call->n_in,
                                                  .n_outputs = (uint32_t)call->n_out},
                                        .op = call->op,
                                        .domain = call->domain,
                                        .attrs = call->attrs,
                                        .n_attrs = (uint32_t)call->n_attrs});
}

nn_t nn_mark(nn *b, nn_t x, uint32_t flags)
{
    ir_id node = nn_ok(b) && x.id != IR_NONE ? ir_value_at(b->model, x.id)->producer : IR_NONE;
    if (node != IR_NONE)
        ir_node_at(b->model, node)->flags |= flags;
    return x;
}

static nn_t emit_one(nn *b, nn_call call, nn_t out)
{
    call.out = &out;
    call.n_out = 1;
    nn_emit(b, &call);
    return out;
}

nn_t nn_one(nn *b, const char *op, const char *name, int n_in, const nn_t *in, nn_t out,
            int n_attrs, const nn_attr *attrs)
{
    const nn_call call = {
        .op = op, .name = name, .in = in, .n_in = n_in, .attrs = attrs, .n_attrs = n_attrs};
    return emit_one(b, call, out);
}

nn_t nn_module(nn *b, const char *op, const char *name, int n_in, const nn_t *in, nn_t out,
               int n_attrs, const nn_attr *attrs)
{
    const nn_call call = {.op = op,
                          .name = name,
                          .module = true,
                          .in = in,
                          .n_in = n_in,
                          .attrs = attrs,
                          .n_attrs = n_attrs};
    return emit_one(b, call, out);
}
