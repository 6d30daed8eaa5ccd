/* Limits and a baseline for every command that produces a profile. */
#ifndef CLI_GATE_H
#define CLI_GATE_H

#include "cli/job.h"

typedef struct cli_gate {
    assay_result *baseline; /* NULL: none */
    char name[320];         /* what reports call it */
    assay_output *save, *junit;
} cli_gate;

/* Whether --baseline names records of the history: "history:tag=main". */
bool cli_baseline_is_kept(const cli_args *a);
/* Reads the baseline, from a file or the history (baseline.c). An exit code, complained about. */
int cli_baseline_open(cli_gate *g, const cli_args *a);

/* Before the work: reads the baseline and opens the files. An exit code, complained about. */
int cli_gate_open(cli_gate *g, cli_args *a);
/* Whether there is anything to judge by, or to write. */
bool cli_gate_wanted(const cli_gate *g, const cli_args *a);
/* After it: judges the job's profile, shows the verdicts (alone: they are the command's result, else they stand below
 * it), writes what was requested. The exit code: 0, 6, 7 or a failure's. */
int cli_gate_judge(cli_gate *g, cli_job *j, bool alone);
void cli_gate_close(cli_gate *g);
/* The whole of a command that runs nothing: analyses, writes, shows, judges by limits alone. The exit code. */
int cli_gate_static(cli_args *args);

#endif
