/* Language models: the prompt at once (prefill), then a token at a time (decode).
 *
 * Two small graphs give the closed form: a prefill of a few tokens gives the MACs per token and per pair of tokens, a
 * step after a long past gives the cache, the windows and the cost of a step. Two more at the requested sizes give
 * FLOPs and activations. Weights are read once a step for the whole batch; of experts, those that are expected to be
 * chosen by any token: E (1 - (1 - k/E)^tokens) in each layer.
 */
#ifndef STUDY_LANGUAGE_H
#define STUDY_LANGUAGE_H

#include "base/error.h"
#include "profile/language.h"
#include "zoo/zoo.h"

typedef struct language_settings {
    str model;
    const zoo_row *row;
    const zoo_args *args;                   /* may be NULL */
    int64_t prompt_tokens, generate, batch; /* 0: 1024 or what the model has room for, 128, 1 */
    ir_dtype
        weights; /* IR_UNDEFINED: the native type, of files if there are any, else of the configuration */
    ir_dtype
        cache; /* IR_UNDEFINED: as the weights where they are floats of 16 bits or more, else float16 */
    uint64_t memory; /* of the device; 0: not asked */
    uint64_t
        stored_bytes; /* of the weights as files hold them, when no type is requested; 0: unknown */
    const char *stored_type;       /* what most of these bytes are: "Q4_K" */
    size_t memory_limit;           /* of our own work */
    struct serving_model *serving; /* filled with the model as a server runs it; or NULL */
} language_settings;

/* Whether the row is a decoder that this can be asked of. */
bool language_is(const zoo_row *row);
assay_status language_run(const language_settings *s, arena *a, language_result *out,
                          assay_error *err);
/* The most tokens per sequence and the most sequences that this memory holds with the reserve of map (MAP_HEAD_ROOM);
 * INT64_MIN when none does and when any number does: the two differ in whether the model fits. */
void language_fit(const language_result *o, uint64_t memory, int64_t *context, int64_t *batch);
/* Sequences that can run at once when prompts are processed one at a time: 0 when the memory holds none. */
int64_t language_most_running(const language_result *o, uint64_t memory);

/* ---- on devices (language_device.c) ---- */

typedef struct language_users_asked {
    int64_t users[LANGUAGE_USERS];
    uint32_t n; /* 0: powers of two, if there is an objective */
    language_slo slo;
    bool most; /* look for the most users, also without an objective */
} language_users_asked;

/* The same model on the devices that `hardware` names; `s->serving` has been filled by language_run(). */
assay_status language_on_devices(str hardware, const language_settings *s,
                                 const language_users_asked *users, arena *a, language_result *o,
                                 assay_error *err);

/* ---- sweeps (language_sweep.c) ---- */

typedef struct language_sweep_asked {
    str what; /* "batch=1,8", "context=2048,8192", "prompt=512", "generate=64", "users=1,8,64" */
    str hardware; /* may be empty */
    const language_settings *settings;
} language_sweep_asked;

/* Users are of devices and fill `users`; others run the model at each value, on the devices if there are any, and add a
 * sweep to `out`. */
assay_status language_sweep_over(const language_sweep_asked *q, language_users_asked *users,
                                 arena *a, language_result *out, assay_error *err);

#endif
