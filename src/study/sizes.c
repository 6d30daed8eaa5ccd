/* Finding the place of a size by its name.
 *
 * What is an image and what a sequence says analyze/axis_roles.h. All images of the same size change together, and
 * so do all inputs of ids of the same length; of a built-in language model, its parameter seq_len.
 */
#include "study/sizes.h"

#include "analyze/axis_roles.h"

const char *size_kind_name(size_kind k)
{
    static const char *const names[] = {[SIZE_BATCH] = "batch",
                                        [SIZE_INPUT] = "input",
                                        [SIZE_SYMBOL] = "dimension",
                                        [SIZE_PARAMETER] = "parameter"};
    return names[k];
}

/* ---- images and sequences among the inputs ---- */

static int batch_of(const batch_rule *rule, const profile *p, uint32_t input)
{
    return rule->present ? batch_axis(rule, input, p->inputs[input].shape.rank) : AXIS_NO_BATCH;
}

static bool is_image(const batch_rule *rule, const profile *p, uint32_t input, image_axes *out)
{
    const profile_tensor *t = &p->inputs[input];
    axis_input in = {t->name, t->dtype, t->shape.rank, t->shape.dims};
    return axis_image(&in, batch_of(rule, p, input), out);
}

static void add_place(size_binding *b, uint32_t input, int axis)
{
    if (b->n_places < SIZE_PLACES)
        b->places[b->n_places++] = (size_place){input, axis};
}

/* Height (which 0), width (1) or both (2) of all images of one size. */
static bool bind_image(const profile *p, const batch_rule *rule, int which, size_binding *b)
{
    int64_t h = 0, w = 0;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const int64_t *d = p->inputs[i].shape.dims;
        image_axes image;
        if (!is_image(rule, p, i, &image) || (h && (d[image.height] != h || d[image.width] != w)))
            continue;
        h = d[image.height];
        w = d[image.width];
        if (which != 1)
            add_place(b, i, image.height);
        if (which != 0)
            add_place(b, i, image.width);
    }
    b->kind = SIZE_INPUT;
    b->own = which == 1 ? w : h;
    return b->n_places > 0;
}

static bool bind_frames(const profile *p, const batch_rule *rule, size_binding *b)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        image_axes image;
        if (!is_image(rule, p, i, &image) || image.frames < 0)
            continue;
        add_place(b, i, image.frames);
        b->own = p->inputs[i].shape.dims[image.frames];
    }
    b->kind = SIZE_INPUT;
    return b->n_places > 0;
}

static bool bind_sequence(const profile *p, const batch_rule *rule, size_binding *b)
{
    bool builtin = rule->certainty == BATCH_BUILT;
    b->kind = builtin ? SIZE_PARAMETER : SIZE_INPUT;
    b->key = STR("seq_len");
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_tensor *t = &p->inputs[i];
        int axis = axis_of_ids(t->dtype, t->shape.rank, batch_of(rule, p, i));
        if (axis < 0 || (b->own && b->own != t->shape.dims[axis]))
            continue;
        b->own = t->shape.dims[axis];
        if (!builtin)
            add_place(b, i, axis);
    }
    return b->own > 0;
}

static bool bind_batch(const profile *p, const batch_rule *rule, size_binding *b)
{
    b->kind = SIZE_BATCH;
    for (uint32_t i = 0; rule->present && !b->own && i < p->n_inputs; i++) {
        const profile_shape *s = &p->inputs[i].shape;
        int axis = batch_of(rule, p, i);
        b->own = axis >= 0 && s->dims[axis] > 0 ? s->dims[axis] : 0;
    }
    return rule->present;
}

/* ---- symbols of a file ---- */

bool size_of_symbol(const ir_model *m, const profile *p, str name, size_binding *b)
{
    const ir_graph *g = ir_graph_at(m, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const ir_type *t = &ir_value_at(m, g->inputs.items[i])->declared;
        for (int d = 0; t->dims && d < t->rank; d++) {
            if (!t->dims[d].symbol.n || !str_eq(t->dims[d].symbol, name))
                continue;
            bool known = i < p->n_inputs && d < p->inputs[i].shape.rank;
            int64_t own = known ? p->inputs[i].shape.dims[d] : 0;
            *b = (size_binding){.kind = SIZE_SYMBOL, .key = name, .own = own > 0 ? own : 0};
            return true;
        }
    }
    return false;
}

/* ---- input[2] ---- */

static bool bind_indexed(const profile *p, str name, size_binding *b)
{
    if (name.n < 4 || name.p[name.n - 1] != ']' || name.p[name.n - 3] != '[')
        return false;
    str input = {name.p, name.n - 3};
    int axis = name.p[name.n - 2] - '0';
    for (uint32_t i = 0; i < p->n_inputs; i++)
        if (str_eq(p->inputs[i].name, input) && axis >= 0 && axis < p->inputs[i].shape.rank) {
            b->kind = SIZE_INPUT;
            b->own = p->inputs[i].shape.dims[axis];
            add_place(b, i, axis);
            return true;
        }
    return false;
}

/* ---- names ---- */

typedef enum role_of {
    ROLE_BATCH,
    ROLE_HEIGHT,
    ROLE_WIDTH,
    ROLE_SIDE,
    ROLE_SEQUENCE,
    ROLE_FRAMES
} role_of;

static const struct size_role {
    const char *name;
    role_of role;
} size_roles[] = {
    {"batch", ROLE_BATCH},       {"height", ROLE_HEIGHT},   {"width", ROLE_WIDTH},
    {"side", ROLE_SIDE},         {"size", ROLE_SIDE},       {"seq", ROLE_SEQUENCE},
    {"sequence", ROLE_SEQUENCE}, {"tokens", ROLE_SEQUENCE}, {"frames", ROLE_FRAMES},
};

static bool bind_role(const batch_rule *rule, const profile *p, role_of role, size_binding *b)
{
    switch (role) {
    case ROLE_BATCH:
        return bind_batch(p, rule, b);
    case ROLE_HEIGHT:
    case ROLE_WIDTH:
    case ROLE_SIDE:
        return bind_image(p, rule, (int)role - (int)ROLE_HEIGHT, b);
    case ROLE_SEQUENCE:
        return bind_sequence(p, rule, b);
    case ROLE_FRAMES:
        return bind_frames(p, rule, b);
    }
    return false;
}

void size_names(const batch_rule *rule, const profile *base, sbuf *out)
{
    for (size_t i = 0; i < sizeof size_roles / sizeof *size_roles; i++) {
        size_binding any = {0};
        if (bind_role(rule, base, size_roles[i].role, &any))
            sbuf_printf(out, "%s, ", size_roles[i].name);
    }
    sbuf_puts(out, "and INPUT[AXIS]");
}

static assay_status no_size(const batch_rule *rule, const profile *p, str name, assay_error *err)
{
    sbuf b = {0};
    if (str_is(name, "batch"))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "the model has no batch dimension: " STR_FMT "",
                        STR_ARG(rule->why));
    size_names(rule, p, &b);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "the model has no size '" STR_FMT
                              "'. It has %s, and symbolic dimensions by name.",
                              STR_ARG(name), sbuf_cstr(&b));
    sbuf_free(&b);
    return s;
}

assay_status size_find(const batch_rule *rule, const profile *base, str name, bool built_in,
                       size_binding *out, assay_error *err)
{
    for (size_t i = 0; i < sizeof size_roles / sizeof *size_roles; i++) {
        size_binding b = {0};
        if (!str_is(name, size_roles[i].name) || !bind_role(rule, base, size_roles[i].role, &b))
            continue;
        *out = b;
        return ASSAY_OK;
    }
    *out = (size_binding){0};
    if (bind_indexed(base, name, out))
        return ASSAY_OK;
    if (!built_in)
        return no_size(rule, base, name, err);
    *out = (size_binding){.kind = SIZE_PARAMETER, .key = name};
    return ASSAY_OK;
}
