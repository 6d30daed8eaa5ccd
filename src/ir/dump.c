/* The text form:
 *
 *   model "resnet" format onnx ir 8 producer "pytorch 2.1"
 *   opset "" 17
 *   graph 0 "main" inputs (%0) outputs (%7)
 *     node 0 Conv "conv1" (%0, %1, -) -> (%5) {group=1, kernel_shape=[7, 7]}
 *   value %0 "x" graph 0 float32[N, 3, 224, 224] input
 *   value %1 "w" graph 0 constant float32[64, 3, 7, 7] slice 128+37632
 *
 * Names are made safe for a terminal. Lists longer than LIST_MAX are cut.
 */
#include "ir/dump.h"

#include <inttypes.h>

#include "base/text.h"

enum { LIST_MAX = 16 };

static void put_name(sbuf *b, str name)
{
    sbuf_putc(b, '"');
    text_safe(b, name);
    sbuf_putc(b, '"');
}

static void put_ids(sbuf *b, const ir_id *ids, uint32_t n)
{
    sbuf_putc(b, '(');
    for (uint32_t i = 0; i < n; i++) {
        sbuf_puts(b, i ? ", " : "");
        if (ids[i] == IR_NONE)
            sbuf_putc(b, '-');
        else
            sbuf_printf(b, "%%%" PRIu32, ids[i]);
    }
    sbuf_putc(b, ')');
}

static void put_tensor(sbuf *b, const ir_tensor *t)
{
    sbuf_printf(b, "%s[", ir_dtype_get(t->dtype)->name);
    for (int i = 0; i < t->rank; i++)
        sbuf_printf(b, "%s%" PRId64, i ? ", " : "", t->dims[i]);
    sbuf_puts(b, t->sparse ? "] sparse" : "]");
    if (t->storage == IR_DATA_INLINE)
        sbuf_printf(b, " inline %" PRIu64, t->size_bytes);
    else if (t->storage == IR_DATA_MADE)
        sbuf_puts(b, " made");
    else if (t->storage != IR_DATA_NONE)
        sbuf_printf(b, " %s %" PRIu64 "+%" PRIu64,
                    t->storage == IR_DATA_SLICE ? "slice" : "external", t->offset, t->length);
    if (t->storage == IR_DATA_EXTERNAL) {
        sbuf_puts(b, " in ");
        put_name(b, t->location);
    }
}

static void put_dims(sbuf *b, const ir_type *t)
{
    sbuf_putc(b, '[');
    for (int i = 0; i < t->rank; i++) {
        const ir_dim *d = &t->dims[i];
        sbuf_puts(b, i ? ", " : "");
        if (d->value >= 0)
            sbuf_printf(b, "%" PRId64, d->value);
        else if (d->symbol.n)
            text_safe(b, d->symbol);
        else
            sbuf_putc(b, '?');
    }
    sbuf_putc(b, ']');
}

/* Nested types are written from the outside in: sequence of optional of float32[2]. */
static void put_type(sbuf *b, const ir_type *t)
{
    static const char *const kinds[] = {
        [IR_KIND_NONE] = "",
        [IR_KIND_TENSOR] = "",
        [IR_KIND_SPARSE] = "sparse ",
        [IR_KIND_SEQUENCE] = "sequence of ",
        [IR_KIND_OPTIONAL] = "optional of ",
        [IR_KIND_MAP] = "map of ",
        [IR_KIND_OPAQUE] = "opaque",
    };
    for (int depth = 0; t && depth < 64; t = t->elem, depth++) {
        sbuf_puts(b, kinds[t->kind]);
        if (t->kind == IR_KIND_MAP)
            sbuf_printf(b, "%s to ", ir_dtype_get(t->dtype)->name);
        if (t->kind != IR_KIND_TENSOR && t->kind != IR_KIND_SPARSE)
            continue;
        sbuf_puts(b, ir_dtype_get(t->dtype)->name);
        if (t->rank >= 0)
            put_dims(b, t);
    }
}

static void put_item(sbuf *b, const ir_attr *a, uint32_t i)
{
    switch (a->kind) {
    case IR_ATTR_FLOATS:
        sbuf_printf(b, "%.9g", a->v.floats[i]);
        break;
    case IR_ATTR_INTS:
        sbuf_printf(b, "%" PRId64, a->v.ints[i]);
        break;
    case IR_ATTR_STRINGS:
        put_name(b, a->v.strings[i]);
        break;
    case IR_ATTR_TENSORS:
    case IR_ATTR_SPARSES:
        put_tensor(b, a->v.tensors[i]);
        break;
    case IR_ATTR_GRAPHS:
        sbuf_printf(b, "graph %" PRIu32, a->v.graphs[i]);
        break;
    case IR_ATTR_TYPES:
        put_type(b, a->v.types[i]);
        break;
    default:
        break;
    }
}

static void put_list(sbuf *b, const ir_attr *a)
{
    sbuf_putc(b, '[');
    for (uint32_t i = 0; i < a->n && i < LIST_MAX; i++) {
        sbuf_puts(b, i ? ", " : "");
        put_item(b, a, i);
    }
    if (a->n > LIST_MAX)
        sbuf_printf(b, ", ... %" PRIu32 " in all", a->n);
    sbuf_putc(b, ']');
}

static void put_attr(sbuf *b, const ir_attr *a)
{
    text_safe(b, a->name);
    sbuf_putc(b, '=');
    if (a->ref.n) {
        sbuf_putc(b, '@');
        text_safe(b, a->ref);
        return;
    }
    switch (a->kind) {
    case IR_ATTR_FLOAT:
        sbuf_printf(b, "%.9g", a->v.f);
        break;
    case IR_ATTR_INT:
        sbuf_printf(b, "%" PRId64, a->v.i);
        break;
    case IR_ATTR_STRING:
        put_name(b, a->v.s);
        break;
    case IR_ATTR_TENSOR:
    case IR_ATTR_SPARSE:
        put_tensor(b, a->v.tensor);
        break;
    case IR_ATTR_GRAPH:
        sbuf_printf(b, "graph %" PRIu32, a->v.graph);
        break;
    case IR_ATTR_TYPE:
        put_type(b, a->v.type);
        break;
    default:
        put_list(b, a);
    }
}

static void put_node(sbuf *b, const ir_model *m, ir_id id)
{
    const ir_node *n = ir_node_at(m, id);
    sbuf_printf(b, "  node %" PRIu32 " ", id);
    if (n->domain.n) {
        text_safe(b, n->domain);
        sbuf_puts(b, "::");
    }
    text_safe(b, n->op);
    sbuf_putc(b, ' ');
    put_name(b, n->name);
    sbuf_putc(b, ' ');
    put_ids(b, n->inputs, n->n_inputs);
    sbuf_puts(b, " -> ");
    put_ids(b, n->outputs, n->n_outputs);
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        sbuf_puts(b, i ? ", " : " {");
        put_attr(b, &n->attrs[i]);
    }
    sbuf_puts(b, n->n_attrs ? "}\n" : "\n");
}

static void put_graph(sbuf *b, const ir_model *m, ir_id id)
{
    const ir_graph *g = ir_graph_at(m, id);
    sbuf_printf(b, "graph %" PRIu32 " ", id);
    put_name(b, g->name);
    if (g->parent != IR_NONE)
        sbuf_printf(b, " parent %" PRIu32, g->parent);
    sbuf_puts(b, " inputs ");
    put_ids(b, g->inputs.items, g->inputs.n);
    sbuf_puts(b, " outputs ");
    put_ids(b, g->outputs.items, g->outputs.n);
    sbuf_putc(b, '\n');
    for (uint32_t i = 0; i < g->nodes.n; i++)
        put_node(b, m, g->nodes.items[i]);
}

static void put_value(sbuf *b, const ir_model *m, ir_id id)
{
    static const struct {
        uint32_t flag;
        const char *word;
    } flags[] = {
        {IR_VALUE_INPUT, " input"},         {IR_VALUE_OUTPUT, " output"},
        {IR_VALUE_PARAM, " param"},         {IR_VALUE_BUFFER, " buffer"},
        {IR_VALUE_NOT_PARAM, " not-param"}, {IR_VALUE_OVERRIDABLE, " overridable"},
    };
    const ir_value *v = ir_value_at(m, id);
    sbuf_printf(b, "value %%%" PRIu32 " ", id);
    put_name(b, v->name);
    sbuf_printf(b, " graph %" PRIu32, v->graph);
    if (v->declared.kind != IR_KIND_NONE) {
        sbuf_putc(b, ' ');
        put_type(b, &v->declared);
    }
    if (v->constant) {
        sbuf_puts(b, " constant ");
        put_tensor(b, v->constant);
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        sbuf_puts(b, v->flags & flags[i].flag ? flags[i].word : "");
    sbuf_putc(b, '\n');
}

static void put_function(sbuf *b, const ir_function *f)
{
    sbuf_puts(b, "function ");
    text_safe(b, f->domain);
    sbuf_puts(b, "::");
    text_safe(b, f->name);
    sbuf_printf(b, " body %" PRIu32 "\n", f->body);
}

void ir_dump(const ir_model *m, sbuf *out)
{
    sbuf_puts(out, "model ");
    put_name(out, m->name);
    sbuf_puts(out, " format ");
    text_safe(out, m->format);
    sbuf_printf(out, " ir %" PRId64 " producer ", m->ir_version);
    put_name(out, m->producer);
    sbuf_putc(out, '\n');
    for (uint32_t i = 0; i < m->opsets.n; i++) {
        sbuf_puts(out, "opset ");
        put_name(out, m->opsets.items[i].domain);
        sbuf_printf(out, " %" PRId64 "\n", m->opsets.items[i].version);
    }
    for (uint32_t i = 0; i < m->functions.n; i++)
        put_function(out, &m->functions.items[i]);
    for (ir_id id = 0; id < m->graphs.n; id++)
        put_graph(out, m, id);
    for (ir_id id = 0; id < m->values.n; id++)
        put_value(out, m, id);
}
