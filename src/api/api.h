/* What stands behind the opaque types of <assay/assay.h>, for the files of this room. */
#ifndef API_API_H
#define API_API_H

#include <assay/assay.h>

#include "api/options.h"
#include "ir/graph.h"
#include "report/page.h"
#include "report/report.h"

/* Together below 1 GB, whatever the file holds. */
#define JOB_MODEL_BYTES    ((size_t)448 << 20)
#define JOB_ANALYSIS_BYTES ((size_t)256 << 20)
#define JOB_PROFILE_BYTES  ((size_t)256 << 20)

/* A built-in architecture is built when an analysis says with which parameters, and again for the next
 * one; see job_model_build(). */
struct assay_model {
    ir_model *ir;               /* functions inlined, verified; NULL until built */
    const zoo_row *row;         /* of a built-in architecture, or NULL */
    str name;                   /* of it, as the user called it */
    str config_file;            /* that described it, or empty */
    zoo_args config;            /* what that file says */
    struct weight_set *weights; /* that are stored for it (formats/weights.h), or NULL */
    notes said;                 /* by reading it; in the arena below when it has one */
    arena *arena;               /* of the three above */
    const void *bytes;          /* of a model that was given as bytes; borrowed */
    size_t n_bytes;
    str folder;                     /* of their external data */
    const struct batch_rule *batch; /* of a file, once somebody asked (batch.h); in ir's arena */
};

struct assay_profile {
    profile *p;
    profile *before; /* that measuring replaced, or NULL: strings of it may still be in use */
    bool saved;      /* read from a file: its context is that of its own machine */
};

/* Fills a caller's struct up to its own size, which stays as the caller set it: what both sides know is
 * copied (profile_walk.c). Every public struct that is handed out begins with its size. */
void api_hand_out(void *out, const void *whole, size_t whole_size);
#define HAND_OUT(out, whole) api_hand_out((out), &(whole), sizeof(whole))

struct host_info;
/* The profile with this machine's description, unless it was read from a file and has that of its own;
 * borrows both (report.c). */
profile api_with_host(const assay_profile *of, struct host_info *h);
/* Version, time and command of a run (analyze.c). */
void job_describe_context(const assay_options *o, profile *p);
/* The page with these profiles and, unless it is NULL, one document more (page.c). */
page_how api_page_how(const assay_options *o);
assay_status api_page(const assay_profile *const *profiles, size_t n, const str *more,
                      const page_how *how, sbuf *out, assay_error *err);
/* The page, with these profiles beside it, in place of the document that was written. */
assay_status api_page_around(const assay_profile *const *profiles, size_t n, const assay_options *o,
                             sbuf *text, assay_error *err);
/* How the console is drawn, by the options (check.c). */
report_options api_screen(const assay_options *o);
/* Hands a text over to the caller, or frees it when s or the text failed (check.c). */
assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err);

/* The names that `word` is most likely a slip of: "Did you mean 'graph'?" or "". */
void text_did_you_mean(sbuf *out, str word, const char *const *names, uint32_t n);

/* Makes model->ir what the options ask for; a model from a file stays as it is. */
assay_status job_model_build(assay_model *model, const assay_options *o, assay_error *err);
/* A second copy of a model that came from an ONNX file, for rewrites; *out may be set after a failure too
 * (measure_model.c). */
assay_status job_model_again(const assay_model *m, ir_model **out, assay_error *err);
/* Reads a configuration file into an empty model, whose arena is made when there is none. */
assay_status job_model_configure(assay_model *m, const char *path, assay_error *err);
/* ASSAY_ERR_USAGE with the nearest built-in names. */
assay_status job_no_such_model(const char *word, assay_error *err);

/* Groups and patterns of a counted model, as the options ask (fuse.c). */
assay_status job_fuse_study(infer_result *r, const counted *of, const assay_options *o, profile *p,
                            assay_error *err);

/* Fills p->recommendations from what p holds by now, and from the model evaluated with other sizes, which may
 * leave a built-in one built otherwise (advise.c). Nothing when the options want none. */
struct advise_facts;
/* `known`: changes whose effect is known already; or NULL. */
assay_status job_advise(assay_model *model, const assay_options *o,
                        const struct advise_facts *known, profile *p, assay_error *err);

/* ---- configurations and weights (folder.c) ---- */

typedef assay_status job_load_fn(assay_model *m, const char *path, assay_error *err);
job_load_fn job_load_folder, job_load_safetensors, job_load_gguf;
/* A folder that job_load_folder has something to read in. */
bool job_is_folder(const char *path);
assay_status job_open_loaded(job_load_fn *load, const char *path, assay_model **out,
                             assay_error *err);
/* Tells a graph that was built how its weights are stored, and what was said when they were read. */
assay_status job_match_weights(const assay_model *m, ir_model *ir, assay_error *err);
/* ASSAY_ERR_UNSUPPORTED: an inventory cannot be run, exported or validated. */
assay_status job_no_graph(const assay_model *m, assay_error *err);

/* ---- kinds of model files (formats.c) ---- */

typedef struct api_format {
    const char *name;
    const char *suffix;
    assay_status (*open)(const char *path, ir_model **out, assay_error *err); /* NULL: not read */
    const char *what;   /* what the file is, for those that are not read */
    const char *export; /* how to make an ONNX file of it */
    job_load_fn *load;  /* configuration or weights; instead of open */
    bool config;        /* describes a built-in architecture: job_model_configure() reads it */
} api_format;

/* By the suffix of a path; NULL when it says nothing. */
const api_format *api_format_of(str path);
/* ASSAY_ERR_UNSUPPORTED with the command that exports the file. */
assay_status api_format_refuse(const api_format *f, const char *path, assay_error *err);

#endif
