/* Shared by commands that run a model: Ctrl-C, the progress line, and the measurement. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <time.h>

#include "cli/job.h"

/* From now on Ctrl-C requests an end; a second one ends the program at once. */
void cli_catch_interrupt(void);
bool cli_interrupted(void *ctx);

typedef struct cli_run {
    cli_job *job;
    bool tty; /* stderr is a terminal: one line is rewritten there */
    bool line_shown;
    struct timespec began, drawn, config_began;
    size_t config; /* whose beginning the last is, counted from 1; `began` is that of its runs */
} cli_run;

/* Measures what the options ask for. 0, or an exit code that was complained about; the profile keeps what
 * there is. */
int cli_run_measure(cli_run *r, unsigned what);
void cli_run_clear(cli_run *r); /* removes the progress line */
/* What measuring tells while it goes on; r lives as long. */
assay_hooks cli_run_hooks(cli_run *r);

#endif
