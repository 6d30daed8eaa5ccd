/* Shared by the files of `assay sweep`. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <assay/sweep.h>

#include "cli/job.h"

typedef struct sweep_job {
    cli_job job; /* its outputs */
    cli_args *args;
    const char *path; /* of the plan: the word, -o, or sweep.json */
    bool made;        /* from a request: not yet at `path` */
    int64_t task;     /* of the command line; -1: none */
    const char *on;   /* --on, else what the plan was submitted to; NULL: none, or local */
    char on_text[32];
    assay_result *plan;
    assay_store *store;
} sweep_job;

/* All return exit codes; errors have been printed. */

/* Runs one task (cmd_sweep_run.c). */
int sweep_run_task(sweep_job *s, int64_t task);
/* Runs the tasks of a list ("0-3,7") that have no record; NULL: of the plan. */
int sweep_run_missing(sweep_job *s, const char *list);

#endif
