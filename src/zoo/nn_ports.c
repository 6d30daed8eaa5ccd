/* Inputs with the requested shapes, and outputs. */
#include "zoo/nn_impl.h"

static const zoo_input *asked_shape(nn *b, const char *name)
{
    const zoo_request *q = b->request;
    uint32_t order = b->n_inputs++, unnamed = 0;
    for (uint32_t i = 0; i < q->n_inputs; i++) {
        bool mine = str_empty(q->inputs[i].name) ? unnamed++ == order
                                                 : str_is(q->inputs[i].name, name);
        if (!mine)
            continue;
        if (b->input_used)
            b->input_used[i] = 1;
        return &q->inputs[i];
    }
    return NULL;
}

static void take_shape(nn *b, nn_t *x, const char *name)
{
    const zoo_input *asked = asked_shape(b, name);
    if (asked && asked->rank != x->rank) {
        nn_fail(b, "input '%s' has rank %d (default shape %s), not %d", name, x->rank,
                nn_dims_text(b, *x), asked->rank);
        return;
    }
    for (int i = 0; asked && i < x->rank; i++) {
        x->d[i] = asked->dims[i];
        if (x->d[i] < 1)
            nn_fail(b, "input '%s' has the invalid size %lld", name, (long long)x->d[i]);
    }
    if (b->request->batch > 0 && x->rank > 0)
        x->d[0] = b->request->batch; /* --batch has the last word */
}

/* Names of inputs and outputs know no scope. */
static str port_name(nn *b, const char *name)
{
    str copy = str_copy(b->model->arena, str_of(name));
    return copy.p ? nn_unique_name(b, copy) : STR("");
}

nn_t nn_input(nn *b, const char *name, ir_dtype t, int rank, const int64_t *dims)
{
    nn_t x = nn_shape(t, rank, dims);
    take_shape(b, &x, name);
    for (int i = 0; i < x.rank && !b->failed; i++)
        if (x.d[i] < 1)
            nn_fail(b, "input '%s' has shape %s; sizes must be at least 1", name,
                    nn_dims_text(b, x));
    if (b->failed || !nn_check_shape(b, name, &x))
        return nn_harmless(x);
    x.id = ir_kit_value(&b->kit, 0, port_name(b, name), &x);
    if (x.id == IR_NONE)
        return nn_harmless(x);
    ir_add_input(b->model, 0, x.id);
    return x;
}

nn_t nn_image(nn *b, int64_t size)
{
    int64_t side = nn_int(b, "image_size", size), channels = nn_int(b, "in_chans", 3);
    return nn_input(b, "input", IR_FLOAT32, 4, (const int64_t[]){1, channels, side, side});
}

void nn_output(nn *b, nn_t x, const char *name)
{
    if (!nn_ok(b) || x.id == IR_NONE)
        return;
    const ir_value *v = ir_value_at(b->model, x.id);
    if (v->producer == IR_NONE || (v->flags & IR_VALUE_OUTPUT))
        x = nn_one(b, "Identity", name, 1, &x, x, 0, NULL);
    if (x.id == IR_NONE)
        return;
    ir_value_at(b->model, x.id)->name = port_name(b, name);
    ir_add_output(b->model, 0, x.id);
}

void nn_not_in_graph(nn *b, uint64_t parameters)
{
    b->model->parameters_not_in_graph += parameters;
}
