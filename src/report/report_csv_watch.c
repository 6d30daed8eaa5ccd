/* A watched process as CSV: one row per look, in order of time. Columns are the keys of a sample in the JSON
 * document; an empty cell is what the system did not tell. */
#include <inttypes.h>

#include "report/report.h"

static void put_told(sbuf *out, uint64_t v)
{
    sbuf_putc(out, ',');
    if (v != PROFILE_NOT_TOLD)
        sbuf_printf(out, "%" PRIu64, v);
}

static void put_sample(sbuf *out, const profile_watch_sample *s)
{
    const uint64_t rest[] = {s->resident,      s->anon,         s->file,
                             s->processes,     s->threads,      s->read_bytes,
                             s->written_bytes, s->minor_faults, s->major_faults};
    report_csv_number(out, s->time_s);
    sbuf_putc(out, ',');
    if (s->cpu_percent >= 0)
        report_csv_number(out, s->cpu_percent);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        put_told(out, rest[i]);
    sbuf_puts(out, "\r\n");
}

assay_status report_csv_watch(const profile *p, sbuf *out, assay_error *err)
{
    sbuf_puts(out, "time_s,cpu_percent,resident,anonymous,file_backed,processes,threads,read_bytes,"
                   "written_bytes,minor_faults,major_faults\r\n");
    for (uint32_t i = 0; i < p->watch->n_samples && !out->failed; i++)
        put_sample(out, &p->watch->samples[i]);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
