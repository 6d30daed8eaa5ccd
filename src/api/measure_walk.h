/* The public form of a measured configuration, for hooks and accessors. */
#ifndef API_MEASURE_WALK_H
#define API_MEASURE_WALK_H

#include "api/api.h"

assay_config api_config_public(const profile_measured *of, const profile_config *c);

#endif
