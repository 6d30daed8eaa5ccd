/* Differences between two layers: numbers, shapes and attributes, the last two as text. */
#include "profile/profile_text.h"
#include "study/compare.h"

static str text_of(arena *a, sbuf *b)
{
    str s = b->n ? str_copy(a, str_of(sbuf_cstr(b))) : (str){0};
    sbuf_free(b);
    return s;
}

static void put_first_shape(sbuf *b, const comparison_side *s)
{
    if (s && s->n_output_shapes)
        profile_put_shape(b, &s->output_shapes[0], "×");
}

/* Of the first output, or both: "1×64×56×56 → 1×128×56×56". */
static str shapes_text(arena *a, const comparison_layer *l)
{
    sbuf x = {0}, y = {0};
    put_first_shape(&x, l->before);
    put_first_shape(&y, l->after);
    if (x.n && y.n && strcmp(sbuf_cstr(&x), sbuf_cstr(&y)) != 0)
        sbuf_printf(&x, " → %s", sbuf_cstr(&y));
    else if (!x.n)
        sbuf_puts(&x, sbuf_cstr(&y));
    sbuf_free(&y);
    return text_of(a, &x);
}

static void put_attribute(sbuf *b, const profile_attribute *x)
{
    if (x)
        attribute_text(b, x);
    else
        sbuf_puts(b, "default");
}

/* "strides [1,1] → [2,2], epsilon default → 0.001" */
static str changes_text(arena *a, const comparison_layer *l)
{
    sbuf b = {0};
    for (uint32_t i = 0; i < l->n_attributes; i++) {
        sbuf_puts(&b, i ? ", " : "");
        sbuf_str(&b, l->attributes[i].name);
        sbuf_putc(&b, ' ');
        put_attribute(&b, l->attributes[i].before);
        sbuf_puts(&b, " → ");
        put_attribute(&b, l->attributes[i].after);
    }
    return text_of(a, &b);
}

static double time_of(const comparison_side *l)
{
    return l && l->time_ms > 0 ? l->time_ms : 0;
}

#define FIGURE(side, member) ((side) ? (side)->member : 0)
#define LESS(member)         (int64_t)(FIGURE(l->after, member) - FIGURE(l->before, member))

void compare_describe(arena *a, bool has_times, comparison_layer *l)
{
    l->name = l->after ? l->after->name : l->before->name;
    l->shapes = shapes_text(a, l);
    l->changes = changes_text(a, l);
    l->difference = (comparison_difference){
        .macs = LESS(macs),
        .flops = LESS(flops),
        .parameters = LESS(parameters),
        .memory = LESS(memory),
        .peak_bytes = LESS(peak_bytes),
        .time_ms = has_times ? time_of(l->after) - time_of(l->before) : NAN};
}
