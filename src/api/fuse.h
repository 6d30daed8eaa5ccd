/* Groups beside the engine's kernels. */
#ifndef API_FUSE_H
#define API_FUSE_H

#include "api/api.h"

/* Fills p->fusion->engine; ASSAY_ERR_ENGINE when there is none. */
assay_status api_fuse_engine(assay_model *model, const assay_options *o, profile *p,
                             assay_error *err);

#endif
