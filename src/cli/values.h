/* Reads values of a result by a printf-style path: "configurations.%zu.batch". */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "cli/cli.h"

/* NaN when there is none. */
double cli_number(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);
/* "" when there is none. */
const char *cli_text(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);

#endif
