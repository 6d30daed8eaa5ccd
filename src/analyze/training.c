/* See training.h. Bytes per parameter are exact: fp32 Adam keeps weight, gradient and two moments,
 * 16 bytes, before any activation. The rows are for training in float32, or in mixed precision: activations are
 * counted in float32 too, whatever type the model is stored in.
 */
#include "analyze/training.h"

typedef struct optimizer_row {
    const char *name;
    uint64_t weight, gradient, state; /* bytes per parameter */
    uint64_t activation_share; /* saved activations are divided by this: 2 in half precision */
} optimizer_row;

static const optimizer_row optimizers[] = {
    {.name = "sgd", .weight = 4, .gradient = 4, .state = 0, .activation_share = 1},
    {.name = "sgd-momentum", .weight = 4, .gradient = 4, .state = 4, .activation_share = 1},
    {.name = "adam", .weight = 4, .gradient = 4, .state = 8, .activation_share = 1},
    {.name = "adamw", .weight = 4, .gradient = 4, .state = 8, .activation_share = 1},
    /* half-precision weights, gradients and activations; master weights and both moments in fp32 */
    {.name = "adamw-mixed", .weight = 2, .gradient = 2, .state = 12, .activation_share = 2},
};

static bool is_parameter(const trainer *x, ir_id id)
{
    ir_id origin = id == IR_NONE ? IR_NONE : x->r->origin[id];
    return origin != IR_NONE && x->of->weights.cls[origin] == WEIGHT_PARAM;
}

static bool needs_gradient(const trainer *x, ir_id id)
{
    return id != IR_NONE && (is_parameter(x, id) || x->needs[id]);
}

/* Operands of a node that need a gradient: the first, and whether any other does. */
static void operands(const trainer *x, const ir_node *n, bool *first, uint32_t *others)
{
    *first = n->n_inputs > 0 && needs_gradient(x, n->inputs[0]);
    *others = 0;
    for (uint32_t i = 1; i < n->n_inputs; i++)
        *others += needs_gradient(x, n->inputs[i]);
}

/* Elements of the first output, over all runs. */
static uint64_t elems(const trainer *x, const ir_node *n, uint64_t times)
{
    uint32_t o = 0;
    while (o < n->n_outputs && n->outputs[o] == IR_NONE)
        o++;
    const op_info *info = o < n->n_outputs ? &x->r->info[n->outputs[o]] : NULL;
    if (!info || info->rank < 0)
        return 0;
    for (int d = 0; d < info->rank; d++)
        times = sat_mul(times, info->dims[d] > 0 ? (uint64_t)info->dims[d] : 0);
    return times;
}

typedef struct forward {
    uint64_t flops, macs, elems;
    bool first; /* operands that need a gradient */
    uint32_t others;
} forward;

static void backward_of(const op_row *row, const forward *f, training_back *b)
{
    uint64_t passes = (uint64_t)f->first + (f->others > 0);
    switch (row->backward) {
    case OP_BW_NONE:
    case OP_BW_MOVE:
        return;
    case OP_BW_CONTRACTION:
        b->macs = sat_mul(passes, f->macs);
        b->flops = sat_mul(2, b->macs);
        return;
    case OP_BW_ELEMENTWISE:
        b->flops = sat_mul((uint64_t)f->first + f->others, f->elems);
        return;
    case OP_BW_ADD: /* the sum over broadcast rows of each further operand */
        b->flops = sat_mul(f->others, f->elems);
        return;
    case OP_BW_NORM:
        b->flops = sat_mul(2, f->flops);
        return;
    case OP_BW_SAME:
        b->flops = f->flops;
        return;
    }
}

static void keep_saved(trainer *x, ir_id id, uint64_t times, training_back *b)
{
    if (id == IR_NONE || x->kept[id] || x->r->origin[id] != IR_NONE ||
        !ir_is_float(x->r->info[id].dtype))
        return;
    x->kept[id] = 1;
    b->saved_bytes = sat_add(b->saved_bytes,
                             sat_mul(times, count_tensor_bytes(&x->r->info[id], IR_FLOAT32)));
}

static void save_for_backward(trainer *x, const op_row *row, const ir_node *n, uint64_t times,
                              training_back *b)
{
    if (row->saves == OP_SAVE_INPUTS || row->saves == OP_SAVE_BOTH)
        for (uint32_t i = 0; i < n->n_inputs; i++)
            keep_saved(x, n->inputs[i], times, b);
    if ((row->saves == OP_SAVE_OUTPUT || row->saves == OP_SAVE_BOTH) && n->n_outputs)
        keep_saved(x, n->outputs[0], times, b);
}

/* One node with what its forward pass costs, over all its runs. */
static training_back step_back(trainer *x, ir_id node, uint64_t times, forward f)
{
    const ir_node *n = ir_node_at(x->r->model, node);
    const op_row *row = x->r->rows[node];
    training_back b = {0};
    operands(x, n, &f.first, &f.others);
    if (!row || row->backward == OP_BW_NONE || (!f.first && !f.others))
        return b;
    for (uint32_t o = 0; o < n->n_outputs; o++)
        if (n->outputs[o] != IR_NONE)
            x->needs[n->outputs[o]] = ir_is_float(x->r->info[n->outputs[o]].dtype);
    f.elems = elems(x, n, times);
    backward_of(row, &f, &b);
    save_for_backward(x, row, n, times, &b);
    return b;
}

static void add_back(training_back *sum, training_back b)
{
    sum->macs = sat_add(sum->macs, b.macs);
    sum->flops = sat_add(sum->flops, b.flops);
    sum->saved_bytes = sat_add(sum->saved_bytes, b.saved_bytes);
}

bool training_begin(trainer *x, infer_result *r, const counted *of)
{
    size_t n = r->model->values.n + (size_t)1;
    *x = (trainer){.r = r,
                   .of = of,
                   .needs = ARENA_ARRAY(r->arena, uint8_t, n),
                   .kept = ARENA_ARRAY(r->arena, uint8_t, n)};
    for (uint32_t k = 0; x->needs && x->kept && k < of->n_loaded; k++) {
        const load_step *s = &of->loaded[k];
        add_back(&x->load_time,
                 step_back(x, s->node, 1, (forward){.flops = s->flops, .macs = s->macs}));
    }
    return x->needs && x->kept;
}

training_back training_step(trainer *x, uint32_t step, uint64_t flops, uint64_t macs)
{
    return step_back(x, x->of->nodes[step], x->of->times[step],
                     (forward){.flops = flops, .macs = macs});
}

static void optimizer_states(profile *p)
{
    profile_training *t = &p->training;
    uint64_t n = p->architecture.trainable_parameters;
    for (uint32_t k = 0; k < sizeof optimizers / sizeof *optimizers; k++) {
        const optimizer_row *o = &optimizers[k];
        profile_optimizer *out = &t->optimizers[t->n_optimizers++];
        *out = (profile_optimizer){.name = o->name,
                                   .bytes_per_param = o->weight + o->gradient + o->state,
                                   .weights_bytes = sat_mul(n, o->weight),
                                   .gradients_bytes = sat_mul(n, o->gradient),
                                   .states_bytes = sat_mul(n, o->state)};
        out->total_bytes = sat_add(sat_mul(n, out->bytes_per_param),
                                   t->saved_activation_bytes / o->activation_share);
    }
}

uint64_t training_bytes(const profile_training *t, const char *optimizer)
{
    for (uint32_t i = 0; i < t->n_optimizers; i++)
        if (strcmp(t->optimizers[i].name, optimizer) == 0)
            return t->optimizers[i].total_bytes;
    return 0;
}

/* Weights change in every step, and so does what is made of them. */
static void add_load_time(const trainer *x, profile_training *t)
{
    for (uint32_t k = 0; k < x->of->n_loaded; k++) {
        t->forward_flops = sat_add(t->forward_flops, x->of->loaded[k].flops);
        t->forward_macs = sat_add(t->forward_macs, x->of->loaded[k].macs);
    }
    t->backward_flops = sat_add(t->backward_flops, x->load_time.flops);
    t->backward_macs = sat_add(t->backward_macs, x->load_time.macs);
    t->saved_activation_bytes = sat_add(t->saved_activation_bytes, x->load_time.saved_bytes);
}

assay_status training_run(infer_result *r, const counted *of, profile *p, assay_error *err)
{
    trainer x;
    profile_training *t = &p->training;
    TRY_MEMORY(training_begin(&x, r, of), err);
    for (uint32_t s = 0; s < p->n_layers; s++) {
        profile_layer *l = &p->layers[s];
        training_back b = training_step(&x, s, count_flops(&l->ops), l->macs);
        l->backward_macs = b.macs;
        l->backward_flops = b.flops;
        l->saved_bytes = b.saved_bytes;
        t->forward_flops = sat_add(t->forward_flops, count_flops(&l->ops));
        t->forward_macs = sat_add(t->forward_macs, l->macs);
        t->backward_flops = sat_add(t->backward_flops, l->backward_flops);
        t->backward_macs = sat_add(t->backward_macs, l->backward_macs);
        t->saved_activation_bytes = sat_add(t->saved_activation_bytes, l->saved_bytes);
    }
    add_load_time(&x, t);
    t->present = true;
    optimizer_states(p);
    return ASSAY_OK;
}
