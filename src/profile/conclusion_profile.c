/* The conclusion of a result of one model. What it says follows what the command was about (context.view): the cost of
 * the graph, the memory plan, devices, groups of layers, a watched process; where a result has no such word, the most
 * that it has. Models that ran are in conclusion_measured.c.
 */
#include <math.h>

#include "base/text.h"
#include "profile/conclusion.h"

/* ---- the cost of the graph ---- */

static const profile_operation *largest_operation(const profile *p)
{
    return p->n_operations && p->operations[0].flops ? &p->operations[0] : NULL;
}

static void put_doubt(const profile *p, sbuf *out)
{
    const profile_accounting *a = &p->accounting;
    if (a->unknown) {
        sbuf_puts(out, " The count is incomplete: ");
        conclude_count(out, a->unknown, "operator");
        sbuf_puts(out, a->unknown == 1 ? " is unknown." : " are unknown.");
    } else if (a->assumed) {
        sbuf_puts(out, " The sizes of ");
        conclude_count(out, a->assumed, "operator");
        sbuf_puts(out, " are assumed.");
    }
}

static void put_work(const profile *p, sbuf *out)
{
    const profile_accounting *a = &p->accounting;
    conclude_name(out, p->model);
    sbuf_puts(out, a->unknown ? " needs at least " : a->assumed ? " needs about " : " needs ");
    conclude_flops(out, (double)p->total_flops);
    sbuf_puts(out, " per run with ");
    text_si(out, (double)p->total_parameters, -1);
    sbuf_puts(out, " parameters");
}

static void conclude_graph(const profile *p, sbuf *out)
{
    const profile_operation *o = largest_operation(p);
    put_work(p, out);
    if (o) {
        sbuf_puts(out, "; ");
        conclude_percent(out, o->percent);
        sbuf_puts(out, " of the FLOPs are in ");
        text_thousands(out, o->count);
        sbuf_putc(out, ' ');
        conclude_name(out, o->type);
        sbuf_printf(out, " layer%s", TEXT_S(o->count));
    }
    sbuf_puts(out, ". ");
    sbuf_puts(out, "Memory peaks at ");
    text_bytes(out, p->memory_plan.peak_bytes);
    sbuf_puts(out, ", ");
    text_bytes(out, p->memory_plan.weights_bytes);
    sbuf_puts(out, " of it weights.");
    put_doubt(p, out);
}

static void conclude_inventory(const profile *p, sbuf *out)
{
    conclude_name(out, p->model);
    sbuf_puts(out, " holds ");
    text_si(out, (double)p->inventory.elements, -1);
    sbuf_puts(out, " weights in ");
    conclude_count(out, p->inventory.tensors, "tensor");
    sbuf_puts(out, " (");
    text_bytes(out, p->inventory.bytes);
    sbuf_puts(out, "). It has no graph, so FLOPs and time are unknown.");
}

/* ---- memory ---- */

static void conclude_memory(const profile *p, sbuf *out)
{
    const profile_memory_plan *m = &p->memory_plan;
    sbuf_puts(out, "Running ");
    conclude_name(out, p->model);
    sbuf_puts(out, " needs ");
    text_bytes(out, m->peak_bytes);
    sbuf_puts(out, ": ");
    text_bytes(out, m->weights_bytes);
    sbuf_puts(out, " of weights and ");
    text_bytes(out, m->activations_peak_bytes);
    sbuf_puts(out, " of activations");
    if (m->peak_node.n) {
        sbuf_puts(out, ", which peak in ");
        conclude_name(out, m->peak_node);
    }
    sbuf_puts(out, ".");
    if (p->measured && p->measured->plan.present && isfinite(p->measured->plan.excess_percent)) {
        double excess = p->measured->plan.excess_percent;
        sbuf_puts(out, " The measured activation peak is ");
        conclude_percent(out, fabs(excess));
        sbuf_puts(out, excess < 0 ? " below the plan." : " above the plan.");
    }
    put_doubt(p, out);
}

/* ---- devices ---- */

/* The first of the goal's table, else the fastest that fits; NULL: nothing fits. */
static const mapping_row *best_row(const profile_mapping *m)
{
    const mapping_row *best = NULL;
    if (m->n_pareto && m->pareto[0] < m->n_rows)
        return &m->rows[m->pareto[0]];
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->rows[i].fits && (!best || m->rows[i].latency_ms < best->latency_ms))
            best = &m->rows[i];
    return best;
}

static uint32_t fitting_devices(const profile_mapping *m)
{
    uint32_t n = 0;
    for (uint32_t h = 0; h < m->n_hardware; h++)
        for (uint32_t i = 0; i < m->n_rows; i++)
            if (m->rows[i].hardware == h && m->rows[i].fits) {
                n++;
                break;
            }
    return n;
}

/* Other devices with a row of its batch that ties: one of them is the fastest when this row ties with it. */
static uint32_t tying_devices(const profile_mapping *m, const mapping_row *best)
{
    uint32_t n = best->tie ? 1 : 0;
    for (uint32_t h = 0; h < m->n_hardware; h++)
        for (uint32_t i = 0; h != best->hardware && i < m->n_rows; i++)
            if (m->rows[i].hardware == h && m->rows[i].tie && m->rows[i].batch == best->batch) {
                n++;
                break;
            }
    return n;
}

static void put_ties(const profile_mapping *m, const mapping_row *best, sbuf *out)
{
    bool by_latency = m->goal && strcmp(m->goal, "latency") == 0;
    uint32_t n = by_latency ? tying_devices(m, best) : 0;
    if (!n)
        return;
    sbuf_puts(out, " It ties with ");
    conclude_count(out, n, "other device");
    sbuf_puts(out, ": the intervals overlap.");
}

static void put_place(const profile *p, const mapping_row *r, sbuf *out)
{
    conclude_name(out, p->model);
    sbuf_puts(out, " is predicted to take ");
    text_ms(out, r->latency_ms);
    sbuf_puts(out, " per run on ");
    conclude_name(out, r->hardware < p->mapping->n_hardware ? p->mapping->hardware[r->hardware].name
                                                            : r->device);
    sbuf_printf(out, " (%s, batch ", r->precision ? r->precision : "?");
    text_thousands(out, r->batch > 0 ? (uint64_t)r->batch : 0);
    sbuf_puts(out, ", ");
    conclude_rate(out, r->throughput);
    sbuf_puts(out, " samples/s) at ");
    conclude_percent(out, r->percent_of_peak);
    sbuf_puts(out, " of its peak");
    if (r->bound)
        sbuf_printf(out, ", limited by %s", r->bound);
    sbuf_puts(out, ".");
}

static void conclude_map(const profile *p, sbuf *out)
{
    const profile_mapping *m = p->mapping;
    const mapping_row *best = best_row(m);
    if (best && best->latency_ms > 0) {
        put_place(p, best, out);
        put_ties(m, best, out);
    } else {
        conclude_name(out, p->model);
        sbuf_puts(out, " fits into the memory of none of the devices.");
    }
    if (m->n_hardware > 1 && best) {
        sbuf_puts(out, " It fits on ");
        text_thousands(out, fitting_devices(m));
        sbuf_puts(out, " of ");
        conclude_count(out, m->n_hardware, "device");
        sbuf_puts(out, ".");
    }
    put_doubt(p, out);
}

/* ---- groups of layers ---- */

static void conclude_fuse(const profile *p, sbuf *out)
{
    const profile_fusion *f = p->fusion;
    bool fewer = f->launches_after < f->launches_before;
    sbuf_puts(out, fewer ? "Fused, " : "Fusion saves no kernel: ");
    conclude_name(out, p->model);
    sbuf_puts(out, " runs ");
    conclude_count(out, f->launches_after, "kernel");
    if (fewer) {
        sbuf_puts(out, " instead of ");
        text_thousands(out, f->launches_before);
    }
    sbuf_puts(out, " and moves ");
    text_bytes(out, f->bytes_after);
    if (f->bytes_saved && f->bytes_before) {
        sbuf_puts(out, ", ");
        conclude_percent(out, 100 * (double)f->bytes_saved / (double)f->bytes_before);
        sbuf_puts(out, " less");
    }
    sbuf_puts(out, ".");
    if (f->engine.present && f->engine.groups) {
        sbuf_puts(out, " ");
        conclude_name(out, f->engine.name);
        sbuf_printf(out, " already runs %u of ", f->engine.same_groups);
        conclude_count(out, f->engine.groups, "group");
        sbuf_puts(out, " as one kernel.");
    }
}

/* ---- a watched process ---- */

static void conclude_watch(const profile *p, sbuf *out)
{
    const profile_watch *w = p->watch;
    conclude_name(out, w->command);
    sbuf_puts(out, " ran for ");
    text_ms(out, w->wall_s > 0 ? 1000 * w->wall_s : 0);
    if (isfinite(w->cpu_percent)) {
        sbuf_puts(out, " at ");
        conclude_percent(out, w->cpu_percent);
        sbuf_puts(out, " CPU");
    }
    if (w->peak_resident != PROFILE_NOT_TOLD) {
        sbuf_puts(out, " with at most ");
        text_bytes(out, w->peak_resident);
        sbuf_puts(out, " of memory");
    }
    sbuf_puts(out, ".");
}

/* ---- which ---- */

static bool has_watch(const profile *p)
{
    return p->watch != NULL;
}
static bool has_runs(const profile *p)
{
    return p->measured && p->measured->n_configs;
}
static bool has_devices(const profile *p)
{
    return p->mapping && p->mapping->n_rows;
}
static bool has_groups(const profile *p)
{
    return p->fusion != NULL;
}
static bool has_inventory(const profile *p)
{
    return p->inventory.present && !p->n_layers;
}
static bool has_layers(const profile *p)
{
    return p->n_layers > 0;
}

/* By rank: the first whose view is the command's own and that is there, else the first that is there. */
static const struct conclusion_row {
    const char *views; /* words of context.view */
    bool (*is_there)(const profile *p);
    void (*put)(const profile *p, sbuf *out);
} conclusion_rows[] = {
    {"watch", has_watch, conclude_watch},
    {"profile bench layers", has_runs, conclude_measured},
    {"map", has_devices, conclude_map},
    {"fuse", has_groups, conclude_fuse},
    {"graph", has_inventory, conclude_inventory},
    {"graph", has_layers, conclude_graph},
    {"memory", has_layers, conclude_memory},
};

static const struct conclusion_row *row_of(const profile *p)
{
    const struct conclusion_row *first = NULL;
    for (size_t i = 0; i < sizeof conclusion_rows / sizeof *conclusion_rows; i++) {
        const struct conclusion_row *row = &conclusion_rows[i];
        if (!row->is_there(p))
            continue;
        if (p->context.view.n && str_in_list(p->context.view, row->views, ' '))
            return row;
        first = first ? first : row;
    }
    return first;
}

void profile_conclude(const void *data, sbuf *out)
{
    const profile *p = data;
    const struct conclusion_row *row = p->kind ? NULL : row_of(p);
    if (row)
        row->put(p, out);
}
