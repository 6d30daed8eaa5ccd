/* A command's work on one model. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/cli.h"

/* Kinds of results that are checked and compared. */
#define CLI_COMPARED_KINDS "profile|load"

typedef struct cli_job {
    cli_args *args;
    const char *stdout_format; /* NULL: nothing goes there */
    struct {
        assay_output *out;
        const char *path, *format;
        bool replaces; /* there is a file of that name */
    } files[CLI_MAX_OUTPUTS];
    int n_files;
    void *bytes; /* of a model on stdin */
    assay_model *model;
    assay_result *profile;
    assay_store *store;   /* the result is kept in it; or NULL */
    bool interrupted;     /* measuring was ended early */
    bool failed;          /* nothing could be measured: what was there before is worth more */
    assay_status verdict; /* of the library, when it gave a profile and a complaint */
} cli_job;

/* All return an exit code and have complained when it is not 0. */
void cli_job_record(
    cli_job *j); /* tells the options the command line; cli_job_analyze() does it too */
void cli_record_command(cli_args *a); /* the same */
int cli_job_open(cli_job *j);         /* the outputs and the history, then the model */
int cli_job_open_outputs(cli_job *j);
int cli_job_open_store(cli_job *j); /* when the result is to be kept */
int cli_job_keep(cli_job *j);       /* in that store; cli_job_write() does it too */
int cli_job_model(cli_job *j);      /* the model alone */
/* The result that is read instead of a model, by its name and its schema: 1; 0: the word is no file of
 * that kind; -1: complained about. */
int cli_job_result(const char *word, assay_result **out, int *code);
/* Tells the options what cli_job_analyze() tells them. */
void cli_job_prepare(cli_job *j);
int cli_job_analyze(cli_job *j); /* 0 also when there is a profile and a complaint: see verdict */
int cli_job_show(cli_job *j);    /* on stdout, as was requested */
int cli_job_write(cli_job *j);   /* into the files and the history */
int cli_job_commit(cli_job *j);  /* replaces the files, once all of them were written */
/* Both: a result that takes no time is not kept when it could not be shown. A measured one is written first. */
int cli_job_show_and_write(cli_job *j);
void cli_job_close(cli_job *j);

/* A command that is one function of the library on one model, shown in a separate view: the exit code. */
typedef assay_status cli_make_fn(assay_model *model, const assay_options *options,
                                 assay_result **out, assay_error *err);
int cli_job_view(cli_args *args, cli_make_fn *make, const char *view);

/* The bytes of a model on stdin, which the caller frees. */
int cli_read_stdin(void **bytes, size_t *n);
/* Complains that the model of the command line cannot be opened: it may be a mistyped command. */
int cli_complain_model(const cli_args *a, const assay_error *err);
/* The static profile by a confined process, for --sandbox (sandboxed.c). */
int cli_job_sandboxed(cli_args *args);

/* ---- results in all requested formats ---- */

/* Of a job whose outputs are open. An exit code; complained about. */
int cli_view(cli_job *j, const assay_result *result);
int cli_views(cli_job *j, const assay_result *const *results, size_t n_results);

#endif
