/* Keeping results in the history, the same way for every command: with --save, or by ASSAY_DB when the command
 * measures. The history is opened, and tags are checked, before any work. */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli/cli.h"

/* *out: the history to keep the result in, or NULL. An exit code that was complained about. */
int cli_keep_open(const cli_args *a, assay_store **out);
/* Whether this command line is one that measures. */
bool cli_keep_measures(const cli_args *a);
/* Says that it was kept, or complains; the exit code. */
int cli_kept(const cli_args *a, assay_status s, int64_t id, const assay_error *err);

#endif
