/* Shared by the measure_*.c files of this room: a model prepared to run at one batch size. */
#ifndef JOBS_MEASURE_H
#define JOBS_MEASURE_H

#include <assay/measure.h>

#include "analyze/feed.h"
#include "jobs/job.h"
#include "jobs/subject.h"
#include "measure/measure.h"

typedef struct job_kept { /* memory that is valid as long as the runnable */
    arena *arena;
    struct job_kept *next;
} job_kept;

/* With the settings of the options; where it ran is not known here. */
profile_engine job_engine_used(const assay_options *o, const engine_info *e, arena *a);

/* What the static analysis says of the model at this size, and, once job_runnable_export() was called,
 * where the file to run is. */
typedef struct job_runnable {
    arena *work; /* holds r, of and the wants */
    const batch_rule *rule;
    sized_model
        sized; /* sizes that r was inferred with; and a copy of a file's graph, if it is changed */
    const ir_model *ir;
    infer_result *r;
    counted of;
    profile *p;
    int64_t batch; /* 0: as the model has it */
    uint64_t batch_shown;
    input_want *wants;
    uint32_t n_wants;
    uint64_t input_bytes;
    bool looks_up;                       /* an input holds token ids */
    bool rebatched;                      /* a fixed batch was changed */
    const struct precision_row *precise; /* to convert to before the run; NULL: as it is stored */
    const char *held;    /* what kept it at an opset at which only parts convert; NULL: nothing */
    engine *engine;      /* that calibrates, where the precision needs it */
    bool tokens_told;    /* and its sizes say how many */
    uint64_t tokens;     /* per sample, then; 0: sequences of nothing */
    job_kept *kept;      /* converted inputs, too large for `work` */
    char *folder, *path; /* of the exported copy; NULL: the user's own file */
    engine_model model;
    double
        pre_ms; /* to decode, resize and normalise images among the inputs; negative: there are none */
} job_runnable;

/* batch 0: as the model and the options say. Freed by job_runnable_free() in any case. */
assay_status job_runnable_make(assay_model *m, const assay_options *o, int64_t batch,
                               job_runnable *out, assay_error *err);
assay_status job_runnable_export(assay_model *m, const assay_options *o, job_runnable *x,
                                 assay_error *err);
void job_runnable_free(job_runnable *x);
/* Bytes that running is planned to take: weights, activations, inputs. */
uint64_t job_runnable_need(const job_runnable *x);

/* The precision to run at: what the name asks for, NULL for as it is stored. ASSAY_ERR_UNSUPPORTED when models
 * are not converted to it. */
assay_status job_find_precision(str name, const struct precision_row **out, assay_error *err);
/* What the options call it: "fp32" unless --precision says otherwise. */
str job_precision_name(const assay_options *o);

/* On disk, external data included; after the export. */
uint64_t job_runnable_file_bytes(const job_runnable *x);

/* What an input must hold. */
input_want job_want_of(const infer_result *r, ir_id id, const feed_hint *hint);

/* Reads the files of --input into the wants (measure_inputs.c). */
assay_status job_runnable_inputs(const assay_options *o, job_runnable *x, assay_error *err);

/* --save-outputs: writes a probe into the directory before the work; then each output as a file. Several
 * configurations have a directory each within it: "8-fp16" (measure_outputs.c). */
assay_status job_outputs_prepare(const assay_options *o, assay_error *err);
assay_status job_outputs_save(const assay_options *o, const profile_config *c, bool several,
                              const output_set *outputs, profile *p, assay_error *err);

typedef struct job_config_list {
    assay_model *model;
    const assay_options *o;
    bool sweep; /* the batch sizes of ASSAY_BATCH_SIZES, unless the options name others */
    profile *p;
    profile_measured *m; /* gets the configurations */
    size_t *count;       /* of them */
} job_config_list;
/* Those that the options name (measure_configs.c). */
assay_status job_list_configs(const job_config_list *j, assay_error *err);
/* Of a model without a batch, one for each precision. */
assay_status job_list_samples(const job_config_list *j, assay_error *err);

typedef struct job_measure_hooks {
    const assay_hooks *caller; /* may be NULL */
    /* Called after each configuration; may be NULL. */
    void (*measured)(const assay_hooks *caller, const profile_measured *m, const profile_config *c);
} job_measure_hooks;

/* Runs the model and adds what is measured to its profile; `what`: ASSAY_MEASURE_ bits (measure.c). */
assay_status job_measure(assay_model *model, const assay_options *o, unsigned what,
                         const job_measure_hooks *hooks, assay_result *of, assay_error *err);
/* Of this and what follows: measure_engine.c. The engine that the options name, or the usual one. */
assay_status job_engine_open(const assay_options *o, engine **out, assay_error *err);
/* The same, used once with a trivial model, so that what the engine itself takes is not booked to the first model:
 * *bytes is the resident memory that this took (ready.c). */
assay_status job_engine_ready(const assay_options *o, engine **out, uint64_t *bytes,
                              assay_error *err);

/* The engine's options as the user wants them; lists are in the arena. */
engine_options job_engine_options(const assay_options *o, arena *a);
/* Engine, governor and load of p->measured. */
void job_describe_engine(const assay_options *o, const engine *e, profile *p);
/* Warnings of p, and the device that the session runs on. */
void job_keep_messages(engine_session *s, profile *p);
/* Describes the GPU in p->measured; NULL: there is none, which is no failure. */
gpu_monitor *job_look_for_gpu(const assay_options *o, profile *p);
/* What the sizes of this model's inputs mean for throughput; once. */
void job_choose_unit(const assay_options *o, const job_runnable *x, profile *p);

typedef struct job_layers_request {
    engine *engine;
    assay_model *model;
    const assay_options *o;
    job_runnable *x;
    sample_hook hook;
    double latency_ms; /* median of the runs without the profiler; 0: not known */
} job_layers_request;

/* Fills time_ms of the layers of p and its ledger (measure_layers.c). */
assay_status job_measure_layers(const job_layers_request *q, profile *p, assay_error *err);

/* The plan against a run without optimisations (measure_plan.c). */
assay_status job_measure_plan(const job_layers_request *q, profile *p, assay_error *err);

/* --cold: the configuration started in new processes, before this one has loaded the engine (cold.c). */
assay_status job_measure_cold(assay_model *m, const assay_options *o, const profile_config *c,
                              profile *p, profile_cold *out, assay_error *err);

/* The `code` of a failed configuration, by its status and errno. */
const char *job_failure_code(assay_status s, const assay_error *err);

#endif
