/* Groups of the fusion partitioner as CSV: one row per group, columns as the keys of a group in JSON, lists joined
 * by ';'. A layer that is a group by itself has a row too, so that every layer stands in exactly one. Of a profile
 * that was not cut into groups there is the header row alone. */
#include <inttypes.h>

#include "report/report.h"

static void put_nodes(const fusion_group *g, sbuf *cell, sbuf *out)
{
    cell->n = 0;
    for (uint32_t k = 0; k < g->n_nodes; k++) {
        sbuf_puts(cell, k ? ";" : "");
        sbuf_str(cell, g->nodes[k]);
    }
    report_csv_field(out, (str){cell->p, (uint32_t)cell->n});
}

static void put_group(const fusion_group *g, uint32_t id, sbuf *cell, sbuf *out)
{
    sbuf_printf(out, "%" PRIu32 ",", id);
    report_csv_field(out, g->kind);
    sbuf_putc(out, ',');
    put_nodes(g, cell, out);
    sbuf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", g->flops, g->macs,
                g->memory, g->boundary_bytes);
    report_csv_number(out, g->arithmetic_intensity);
    sbuf_putc(out, ',');
    report_csv_number(out, g->intensity_before);
    sbuf_printf(out, ",%" PRIu64 ",%" PRIu32 ",%s,", g->launches, g->level,
                g->critical ? "true" : "false");
    for (uint32_t k = 0; k < g->n_depends_on; k++)
        sbuf_printf(out, "%s%" PRIu32, k ? ";" : "", g->depends_on[k]);
    sbuf_puts(out, "\r\n");
}

assay_status report_fuse_csv(const profile *p, sbuf *out, assay_error *err)
{
    sbuf cell = {0};
    sbuf_puts(out, "id,kind,nodes,flops,macs,memory,boundary_bytes,arithmetic_intensity,"
                   "intensity_before,launches,level,critical,depends_on\r\n");
    for (uint32_t g = 0; p->fusion && g < p->fusion->n_groups && !out->failed; g++)
        put_group(&p->fusion->groups[g], g, &cell, out);
    bool failed = out->failed || cell.failed;
    sbuf_free(&cell);
    return failed ? err_no_memory(err) : ASSAY_OK;
}
