/* See roofline_take.h. */
#include "analyze/roofline_take.h"

#include <assert.h>

#include "analyze/memory.h"
#include "analyze/training.h"

/* One byte follows from these two. */
enum { WIDTHS_TAKEN = 2, N_TOTALS = RUNTIME_WAYS * RUNTIME_TERMS };
static const ir_dtype width_types[WIDTHS_TAKEN] = {IR_FLOAT32, IR_FLOAT16};

typedef struct taker {
    roofline_model *m;
    infer_result *r;
    const counted *of;
    uint32_t point;
    const term_plan *plan;
    arena *arena;
    trainer trained;
    const op_info **in;
    op_info *out;
    op_cost cost;
    term_totals totals[WIDTHS_TAKEN];
} taker;

typedef struct step_figures {
    uint64_t macs, flops; /* all runs; FLOPs as assay counts them */
    double other;         /* FLOPs that are no multiply-accumulates */
    uint64_t bytes[WIDTHS_TAKEN];
} step_figures;

static bool make_room(taker *x)
{
    arena *a = x->r->arena;
    uint32_t n_in = 1, n_out = 1;
    for (uint32_t s = 0; s < x->of->n; s++) {
        const ir_node *n = ir_node_at(x->r->model, x->of->nodes[s]);
        n_in = n->n_inputs > n_in ? n->n_inputs : n_in;
        n_out = n->n_outputs > n_out ? n->n_outputs : n_out;
    }
    x->in = ARENA_ARRAY(a, const op_info *, n_in);
    x->out = ARENA_ARRAY(a, op_info, n_out);
    x->cost.read = ARENA_ARRAY(a, uint64_t, n_in);
    x->cost.written = ARENA_ARRAY(a, uint64_t, n_out);
    return training_begin(&x->trained, x->r, x->of) && !arena_failed(a);
}

static step_figures weigh(taker *x, uint32_t step)
{
    const op_cost *k = &x->cost;
    uint64_t times = x->of->times[step];
    op_ctx c;
    infer_context(x->r, x->of->nodes[step], x->in, x->out, &c);
    count_cost(&c, &x->cost);
    const uint64_t add = sat_mul(k->add, times), mul = sat_mul(k->mul, times),
                   div = sat_mul(k->div, times), special = sat_mul(k->special, times),
                   cmp = sat_mul(k->cmp, times);
    step_figures f = {.macs = sat_mul(k->mac, times)};
    f.flops = count_flops(&(profile_ops){
        .mac = f.macs, .add = add, .mul = mul, .div = div, .special = special, .cmp = cmp});
    f.other = (double)add + (double)mul + (double)div + (double)special + (double)cmp;
    for (int w = 0; w < WIDTHS_TAKEN; w++) {
        f.bytes[w] = sat_mul(count_moved(x->r, &c, width_types[w], k), times);
        if (x->plan)
            terms_add(x->plan, step,
                      &(term_layer){x->r, &c, k, (double)times, width_types[w], f.bytes[w]},
                      x->totals[w]);
    }
    return f;
}

/* ---- layers ---- */

/* As a layer's type is shown: "conv2d". */
static str type_of(const taker *x, uint32_t step)
{
    const op_row *row = x->r->rows[x->of->nodes[step]];
    const ir_node *n = ir_node_at(x->r->model, x->of->nodes[step]);
    return count_type(
        row, n->n_inputs && n->inputs[0] != IR_NONE ? x->r->info[n->inputs[0]].rank : -1, x->arena);
}

static roofline_layer *new_layer(taker *x, uint32_t step)
{
    uint64_t times = x->of->times[step];
    roofline_layer *l = &x->m->layers[x->m->n_layers++];
    *l = (roofline_layer){
        .name = str_copy(x->arena, ir_node_at(x->r->model, x->of->nodes[step])->name),
        .type = type_of(x, step),
        .step = step,
        .launches = (double)(times ? times : 1),
        .passes = 1};
    return l;
}

static void fill_layer(const taker *x, const step_figures *f, const training_back *b,
                       roofline_layer *l)
{
    uint32_t p = x->point;
    l->contraction[p] = 2.0 * (double)f->macs;
    l->other[p] = f->other;
    for (int w = 0; w < WIDTHS_TAKEN; w++)
        l->bytes[w][p] = (double)f->bytes[w];
    if (b->flops || b->saved_bytes) {
        double back = 2.0 * (double)b->macs, all = (double)b->flops;
        l->passes = 3;
        l->back_contraction[p] = back;
        l->back_other[p] = all > back ? all - back : 0;
    }
}

/* Of the first point, which layers there are: views compute and move nothing and are left out. */
static void take_steps(taker *x, bool first)
{
    uint64_t saved = 0;
    for (uint32_t s = 0, at = 0; s < x->of->n; s++) {
        assert(x->m->layers || !x->m->n_layers);
        bool known = !first && at < x->m->n_layers && x->m->layers[at].step == s;
        step_figures f = {0};
        if (first || known)
            f = weigh(x, s);
        training_back b = training_step(&x->trained, s, f.flops, f.macs);
        saved = sat_add(saved, b.saved_bytes);
        bool runs = f.bytes[0] > 0 || f.macs > 0 || f.other > 0;
        roofline_layer *l = known ? &x->m->layers[at++] : first && runs ? new_layer(x, s) : NULL;
        if (l)
            fill_layer(x, &f, &b, l);
    }
    x->m->saved_bytes[x->point] = (double)saved;
}

static bool keep_totals(taker *x)
{
    roofline_model *m = x->m;
    if (!x->plan)
        return true;
    if (!m->terms)
        m->terms = arena_alloc_array(x->arena, ROOFLINE_WIDTHS, sizeof *m->terms);
    for (int t = 0; m->terms && t < WIDTHS_TAKEN * N_TOTALS; t++)
        m->terms[t / N_TOTALS][t % N_TOTALS / RUNTIME_TERMS][t % RUNTIME_TERMS][x->point] =
            x->totals[t / N_TOTALS][t % N_TOTALS / RUNTIME_TERMS][t % RUNTIME_TERMS];
    return m->terms != NULL;
}

/* ---- memory ---- */

static assay_status take_memory(taker *x, const profile_architecture *arch, assay_error *err)
{
    uint64_t *live[WIDTHS_TAKEN];
    roofline_model *m = x->m;
    TRY(memory_live(x->r, x->of, width_types, WIDTHS_TAKEN, live, err));
    for (int w = 0; w < WIDTHS_TAKEN; w++) {
        if (!m->live[w])
            m->live[w] = arena_alloc_array(x->arena, (size_t)m->n_steps + 1, sizeof *m->live[w]);
        TRY_MEMORY(m->live[w], err);
        for (uint32_t s = 0; s < m->n_steps; s++)
            m->live[w][s][x->point] = (double)live[w][s];
        m->weights_bytes[w] = (double)memory_weights(arch, width_types[w]);
    }
    return ASSAY_OK;
}

assay_status roofline_take(roofline_model *m, infer_result *r, const counted *of,
                           const roofline_about *about, uint32_t point, arena *a, assay_error *err)
{
    taker x = {.m = m, .r = r, .of = of, .plan = about->plan, .point = point, .arena = a};
    bool first = !m->layers;
    if (first) {
        m->layers = ARENA_ARRAY(a, roofline_layer, (size_t)of->n + 1);
        m->n_steps = of->n;
        m->parameters = (double)about->arch->trainable_parameters;
    }
    if (of->n != m->n_steps)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "the graph changes with the batch size");
    TRY_MEMORY(m->layers && make_room(&x), err);
    take_steps(&x, first);
    TRY(take_memory(&x, about->arch, err));
    TRY_MEMORY(keep_totals(&x), err);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}
