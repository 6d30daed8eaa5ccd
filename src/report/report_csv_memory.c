/* The memory plan as CSV: what is done in which order, what is alive while each layer runs (beside it what a run
 * had), snapshots, where each tensor goes; and resident memory over a run's time. A profile that does not hold a
 * list has its header row alone. */
#include <inttypes.h>

#include "base/map.h"
#include "report/report.h"

static void end_row(sbuf *out)
{
    sbuf_puts(out, "\r\n");
}

static void put_text(sbuf *out, str s)
{
    sbuf_putc(out, ',');
    report_csv_field(out, s);
}

static void put_number(sbuf *out, uint64_t v)
{
    sbuf_printf(out, ",%" PRIu64, v);
}

static assay_status ended(const sbuf *out, assay_error *err)
{
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status report_csv_events(const profile *p, sbuf *out, assay_error *err)
{
    const profile_memory_plan *m = &p->memory_plan;
    sbuf_puts(out, "step,kind,node,value,of,bytes,slot,offset,live_bytes\r\n");
    for (uint32_t i = 0; i < m->n_events && !out->failed; i++) {
        const profile_event *e = &m->events[i];
        sbuf_printf(out, "%" PRIu32, e->step);
        put_text(out, str_of(e->kind ? e->kind : ""));
        put_text(out, e->node);
        put_text(out, e->value);
        put_text(out, e->of);
        put_number(out, e->bytes);
        put_number(out, e->slot);
        put_number(out, e->offset);
        put_number(out, e->live_bytes);
        end_row(out);
    }
    return ended(out, err);
}

assay_status report_csv_slots(const profile *p, sbuf *out, assay_error *err)
{
    const profile_memory_plan *m = &p->memory_plan;
    sbuf_puts(out, "slot,value,bytes,offset,from,to\r\n");
    for (uint32_t i = 0; i < m->n_slots && !out->failed; i++) {
        const profile_slot *s = &m->slots[i];
        sbuf_printf(out, "%" PRIu32, i);
        put_text(out, s->value);
        put_number(out, s->bytes);
        put_number(out, s->offset);
        put_number(out, s->from);
        put_number(out, s->to);
        end_row(out);
    }
    return ended(out, err);
}

/* One row per value that is alive. */
static void put_snapshot(const profile_snapshot *s, sbuf *out)
{
    for (uint32_t i = 0; i < s->n_values && !out->failed; i++) {
        report_csv_field(out, str_of(s->kind ? s->kind : ""));
        put_number(out, s->step);
        put_text(out, s->node);
        put_number(out, s->live_bytes);
        put_text(out, s->values[i].value);
        put_text(out, s->values[i].producer);
        put_number(out, s->values[i].bytes);
        end_row(out);
    }
}

assay_status report_csv_snapshots(const profile *p, sbuf *out, assay_error *err)
{
    const profile_memory_plan *m = &p->memory_plan;
    sbuf_puts(out, "kind,step,node,live_bytes,value,producer,bytes\r\n");
    for (uint32_t i = 0; i < m->n_snapshots && !out->failed; i++)
        put_snapshot(&m->snapshots[i], out);
    return ended(out, err);
}

/* Layers of a run by name; the last of several, as the engine writes them in order. */
static bool index_run(const profile_plan_check *k, arena *a, map *by_node)
{
    if (!a || !map_init(by_node, a, k->n_moments + 1u))
        return false;
    for (uint32_t i = 0; i < k->n_moments; i++)
        if (!map_put(by_node, k->moments[i].node, i))
            return false;
    return true;
}

assay_status report_csv_timeline(const profile *p, sbuf *out, assay_error *err)
{
    static const profile_plan_check none;
    const profile_plan_check *k = p->measured && p->measured->plan.present ? &p->measured->plan
                                                                           : &none;
    const profile_memory_plan *m = &p->memory_plan;
    arena *a = arena_new(SIZE_MAX);
    map by_node;
    if (!index_run(k, a, &by_node))
        out->failed = true;
    sbuf_puts(out, "step,node,live_bytes,measured_live_bytes\r\n");
    for (uint32_t i = 0; i < m->n_timeline && !out->failed; i++) {
        uint32_t at = map_get(&by_node, m->timeline[i].node);
        sbuf_printf(out, "%" PRIu32, i);
        put_text(out, m->timeline[i].node);
        put_number(out, m->timeline[i].live_bytes);
        sbuf_putc(out, ',');
        if (at != MAP_NONE)
            sbuf_printf(out, "%" PRIu64, k->moments[at].requested);
        end_row(out);
    }
    arena_free(a);
    return ended(out, err);
}

static void put_told(sbuf *out, uint64_t v)
{
    sbuf_putc(out, ',');
    if (v != PROFILE_NOT_TOLD)
        sbuf_printf(out, "%" PRIu64, v);
}

static void put_curve(const profile_config *c, sbuf *out)
{
    for (uint32_t i = 0; i < c->n_curve && !out->failed; i++) {
        const profile_memory_sample *s = &c->curve[i];
        sbuf_printf(out, "%" PRIu64, c->batch);
        put_text(out, c->precision);
        sbuf_putc(out, ',');
        report_csv_number(out, s->ms);
        put_told(out, s->resident);
        put_told(out, s->anon);
        put_told(out, s->file);
        end_row(out);
    }
}

assay_status report_csv_curve(const profile *p, sbuf *out, assay_error *err)
{
    const profile_measured *m = p->measured;
    sbuf_puts(out, "batch,precision,ms,resident,anonymous,file_backed\r\n");
    for (uint32_t i = 0; m && i < m->n_configs && !out->failed; i++)
        put_curve(&m->configs[i], out);
    return ended(out, err);
}
