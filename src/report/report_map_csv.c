/* Devices as CSV: one row per device, precision and batch. */
#include <inttypes.h>

#include "report/report.h"

static void put_number(sbuf *out, double v)
{
    sbuf_putc(out, ',');
    sbuf one = {0};
    sbuf_printf(&one, "%.9g", v);
    for (size_t i = 0; i < one.n; i++)
        sbuf_putc(out,
                  one.p[i] == ',' ? '.' : one.p[i]); /* whatever the locale of the host program */
    sbuf_free(&one);
}

static void put_row(const profile_mapping *m, const mapping_row *r, sbuf *out)
{
    report_csv_field(out, m->hardware[r->hardware].id);
    sbuf_printf(out, ",%s,%" PRId64, r->precision, r->batch);
    put_number(out, r->latency_ms);
    put_number(out, r->throughput);
    sbuf_printf(out, ",%" PRIu64 ",%s,%s,%s", r->memory_bytes, r->fits ? "true" : "false",
                r->verdict, r->bound);
    if (r->energy_j > 0)
        put_number(out, r->energy_j);
    else
        sbuf_putc(out, ',');
    if (r->trains) {
        sbuf_printf(out, ",%" PRIu64, r->training_memory_bytes);
        put_number(out, r->training_step_ms);
    } else {
        sbuf_puts(out, ",,");
    }
    sbuf_printf(out, ",%s\r\n", r->pareto ? "true" : "false");
}

assay_status report_map_csv(const profile *p, sbuf *out, assay_error *err)
{
    sbuf_puts(out, "name,precision,batch,latency_ms,throughput,memory_bytes,fits,verdict,bound,"
                   "energy_j_per_sample,training_memory_bytes,training_step_ms,pareto\r\n");
    for (uint32_t i = 0; i < p->mapping->n_rows && !out->failed; i++)
        put_row(p->mapping, &p->mapping->rows[i], out);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
