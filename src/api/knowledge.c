/* Tables of the library: operators, conventions, exit codes, version. */
#include <stdlib.h>

#include "api/api.h"
#include "ops/op.h"

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *assay_version(void)
{
    return TEXT_OF(ASSAY_VERSION_MAJOR) "." TEXT_OF(ASSAY_VERSION_MINOR) "." TEXT_OF(
        ASSAY_VERSION_PATCH);
}

int assay_version_number(void)
{
    return ASSAY_VERSION_NUMBER;
}

const char *assay_status_text(assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return "success";
    case ASSAY_ERR_SYSTEM:
        return "system error: a file cannot be read or written, or out of memory";
    case ASSAY_ERR_USAGE:
        return "usage error";
    case ASSAY_ERR_MALFORMED:
        return "malformed model or result";
    case ASSAY_ERR_UNSUPPORTED:
        return "unsupported model, contradicting shapes, or --strict failed";
    case ASSAY_ERR_ENGINE:
        return "engine missing or failed";
    case ASSAY_ERR_THRESHOLD:
        return "limit missed, or regression";
    case ASSAY_ERR_INCONCLUSIVE:
        return "inconclusive";
    case ASSAY_ERR_INTERRUPTED:
        return "interrupted";
    }
    return "unknown status";
}

void assay_free(void *p)
{
    free(p);
}

bool assay_op_at(size_t index, assay_op_info *out)
{
    for (uint32_t t = 0; t < op_table_n; t++) {
        if (index >= op_table[t]->n) {
            index -= op_table[t]->n;
            continue;
        }
        const op_row *row = &op_table[t]->rows[index];
        assay_op_info info = {.domain = *row->domain ? row->domain : "ai.onnx",
                              .name = row->name,
                              .type = row->type,
                              .versions = row->versions,
                              .formula = row->formula ? row->formula : ""};
        return HAND_OUT(out, info);
    }
    return false;
}

bool assay_lens_at(size_t index, assay_lens_info *out)
{
    if (index >= lens_table_n)
        return false;
    const lens *l = &lens_table[index];
    assay_lens_info info = {.name = l->name, .unit = l->unit, .about = l->about};
    return HAND_OUT(out, info);
}
