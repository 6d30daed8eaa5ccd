/* Finds steps of the memory plan by name: a layer, a value that it produces, or the number of the step. */
#include "analyze/memory.h"
#include "base/num.h"
#include "base/text.h"
#include "profile/profile_text.h"

static bool makes(const profile_layer *l, str value)
{
    for (uint32_t i = 0; i < l->n_outputs; i++)
        if (str_eq(l->outputs[i].name, value))
            return true;
    return false;
}

/* As the console writes it. */
static bool is_shown_as(const profile_layer *l, str word, sbuf *scratch)
{
    scratch->n = 0;
    profile_put_name(scratch, l->name);
    return !scratch->failed && str_eq((str){scratch->p, (uint32_t)scratch->n}, word);
}

static bool is_step(str word, uint32_t n_layers, uint32_t *step)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return false;
        v = sat_add(sat_mul(v, 10), (uint64_t)(word.p[i] - '0'));
    }
    *step = (uint32_t)v;
    return v < n_layers;
}

/* The layer of that name; else the one shown by that name, or that makes the value; else the step. */
static bool find_step(const profile *p, str word, uint32_t *step)
{
    sbuf scratch = {0};
    bool found = false;
    for (uint32_t i = 0; i < p->n_layers && !found; i++)
        if ((found = str_eq(p->layers[i].name, word)))
            *step = i;
    for (uint32_t i = 0; i < p->n_layers && !found; i++)
        if ((found = makes(&p->layers[i], word) || is_shown_as(&p->layers[i], word, &scratch)))
            *step = i;
    sbuf_free(&scratch);
    return found || is_step(word, p->n_layers, step);
}

static assay_status no_such_layer(const profile *p, str word, arena *work, assay_error *err)
{
    const char **names = ARENA_ARRAY(work, const char *, p->n_layers + (size_t)1);
    sbuf hint = {0};
    TRY_MEMORY(names, err);
    for (uint32_t i = 0; i < p->n_layers; i++)
        names[i] = p->layers[i].name.n ? p->layers[i].name.p : "";
    text_did_you_mean(&hint, word, names, p->n_layers);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "no layer or value '" STR_FMT "' for a snapshot.%s", STR_ARG(word),
                              sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

assay_status memory_steps_at(const profile *p, const str *words, uint32_t n, arena *work,
                             uint32_t **out, assay_error *err)
{
    uint32_t *at = ARENA_ARRAY(work, uint32_t, n + (size_t)1);
    TRY_MEMORY(at, err);
    for (uint32_t i = 0; i < n; i++)
        if (!find_step(p, words[i], &at[i]))
            return no_such_layer(p, words[i], work, err);
    *out = at;
    return ASSAY_OK;
}
