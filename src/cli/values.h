/* Values of a result by a path that is written as by printf: "configurations.%zu.batch". */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "cli/cli.h"

/* NaN when there is none. */
double cli_number(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);
/* "" when there is none. */
const char *cli_text(const assay_result *r, const char *path, ...) ASSAY_PRINTF(2, 3);

#endif
