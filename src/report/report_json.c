/* The whole result as JSON. What --top, --depth and --verbose mean to a screen does not touch it: the
 * profile holds what was asked for, and all of that is written. */
#include "profile/profile_read.h"
#include "report/report.h"

assay_status report_json(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    (void)o;
    profile_write_json(p, out, 2);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}
