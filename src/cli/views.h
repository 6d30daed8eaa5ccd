/* Results in every view that was asked for: on stdout and into files. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "cli/job.h"

/* Of a job whose outputs are open. An exit code; complained about. */
int cli_view(cli_job *j, const assay_result *result);
int cli_views(cli_job *j, const assay_result *const *results, size_t n_results);

#endif
