/* Time of every layer. */
#include "api/measure.h"

assay_status api_measure_layers(const api_layers_request *q, profile *p, assay_error *err)
{
    (void)q;
    (void)p;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "Layers cannot be timed yet.");
}
