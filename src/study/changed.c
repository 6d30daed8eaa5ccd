/* Some weights of built-in models depend on the input size: channels of the first convolution, positions of a vision
 * transformer. Another input size then gives another model, which no published weights fit. Weights are compared by
 * name and shape; buffers are not, for they are computed. */
#include "study/changed.h"

#include "base/map.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "base/text.h"

bool changed_is_image_size(str key)
{
    return str_in_list(key,
                       "image_size img_size vision_config.image_size input_size sample_size "
                       "latent_size",
                       ' ');
}

typedef struct change {
    const ir_value *first, *was; /* was: NULL when the usual model has no such weight */
    uint64_t parameters, usual;
} change;

static const ir_tensor *weight_of(const ir_value *v)
{
    return v->flags & IR_VALUE_PARAM ? v->constant : NULL;
}

static uint64_t parameters_of(const ir_model *m)
{
    uint64_t sum = m->parameters_not_in_graph;
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_tensor *t = weight_of(ir_value_at(m, id));
        sum = sat_add(sum, t ? t->n_elems : 0);
    }
    return sum;
}

static bool same_shape(const ir_tensor *a, const ir_tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

static bool weights_by_name(const ir_model *m, arena *scratch, map *out)
{
    if (!map_init(out, scratch, m->values.n))
        return false;
    for (ir_id id = 0; id < m->values.n; id++)
        if (weight_of(ir_value_at(m, id)) && !map_put(out, ir_value_at(m, id)->name, id))
            return false;
    return true;
}

static void find_first(const ir_model *usual, const map *names, const ir_model *m, change *out)
{
    for (ir_id id = 0; id < m->values.n && !out->first; id++) {
        const ir_value *v = ir_value_at(m, id);
        const ir_tensor *t = weight_of(v);
        uint32_t at = t ? map_get(names, v->name) : MAP_NONE;
        const ir_value *was = at == MAP_NONE ? NULL : ir_value_at(usual, at);
        if (t && (!was || !same_shape(t, was->constant))) {
            out->first = v;
            out->was = was;
        }
    }
}

static void put_shape(sbuf *b, const ir_value *v)
{
    sbuf_putc(b, '[');
    for (int i = 0; i < v->constant->rank; i++)
        sbuf_printf(b, i ? ", %lld" : "%lld", (long long)v->constant->dims[i]);
    sbuf_putc(b, ']');
}

static void put_weight(sbuf *b, const change *c)
{
    if (!c->first)
        return;
    sbuf_printf(b, " Weight '" STR_FMT "' is ", STR_ARG(c->first->name));
    put_shape(b, c->first);
    sbuf_puts(b, c->was ? ", but at the default input size "
                        : ", which does not exist at the default input size");
    if (c->was)
        put_shape(b, c->was);
    sbuf_putc(b, '.');
}

static void note_change(ir_model *m, const change *c)
{
    sbuf text = {0};
    sbuf_puts(&text, "The input size changes the architecture: ");
    text_thousands(&text, c->parameters);
    sbuf_puts(&text, " parameters instead of ");
    text_thousands(&text, c->usual);
    sbuf_putc(&text, '.');
    put_weight(&text, c);
    notes_add(&m->notes, "architecture-changed", c->first ? c->first->name : (str){0},
              "Weights for the default input size do not match this model.", "%s",
              sbuf_cstr(&text));
    m->architecture_changed = true;
    sbuf_free(&text);
}

bool changed_note(const ir_model *usual, ir_model *ir, arena *scratch)
{
    change c = {.parameters = parameters_of(ir), .usual = parameters_of(usual)};
    map names;
    if (!weights_by_name(usual, scratch, &names))
        return false;
    find_first(usual, &names, ir, &c);
    if (c.first || c.parameters != c.usual)
        note_change(ir, &c);
    return !arena_failed(ir->arena);
}
