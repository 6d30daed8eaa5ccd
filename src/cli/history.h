/* Shared by the subcommands of `assay history`. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "cli/cli.h"

typedef struct history_task {
    cli_args *args;
    assay_store *store;       /* NULL: the subcommand opens its own */
    const char *const *words; /* after the subcommand */
    int n_words;
} history_task;

/* cmd_history_whole.c: what concerns a history as a whole. Exit codes; errors have been printed. */
int history_init(history_task *t);
int history_copy(history_task *t);
int history_prune(history_task *t);

/* cmd_history_fleet.c: questions about a fleet. */
int history_changes(history_task *t);
int history_regressions(history_task *t);
int history_drift(history_task *t);
int history_cheapest(history_task *t);

#endif
