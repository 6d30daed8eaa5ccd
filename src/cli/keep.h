/* Stores results in the history, in the same way for every command: with --save, or with ASSAY_DB if the command
 * measures. The history is opened and the tags are checked before any work. */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli/cli.h"

/* Opens the history to store the result in; *out is NULL if it is not to be stored. Returns an exit code; the error
 * has been printed. */
int cli_keep_open(const cli_args *a, assay_store **out);
/* Whether this command line measures. */
bool cli_keep_measures(const cli_args *a);
/* Stores a result with the tags of the command line and prints its number, or prints the error. Returns an exit code. */
int cli_keep(const cli_args *a, assay_store *store, const assay_result *result);

/* Prints why a result could not be stored. Nothing that was measured is lost with a server: what was to be stored there is
 * written to a file that `assay history import` reads. Returns an exit code. */
int cli_rescue(const cli_args *a, const assay_result *result, const assay_record_options *options,
               const assay_error *why);

#endif
