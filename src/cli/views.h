/* A result that is no profile, in every view that was asked for: on stdout and into files. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "cli/job.h"

typedef assay_status cli_render(const void *ctx, const char *format, const assay_options *o,
                                char **text, size_t *n, assay_error *err);

/* Of a job whose outputs are open. An exit code; complained about. */
int cli_views(cli_job *j, cli_render *render, const void *ctx);

#endif
