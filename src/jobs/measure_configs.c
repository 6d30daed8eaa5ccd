/* The configurations of a measurement: batch sizes and precisions that the options name. */
#include <assay/measure.h>

#include "jobs/measure.h"

enum { SWEEP_MOST = 16 };

/* The batch sizes of a sweep for which the options name none. */
static uint32_t list_sweep(int64_t sizes[SWEEP_MOST])
{
    uint32_t n = 0;
    str list = STR(ASSAY_BATCH_SIZES);
    for (str item; n < SWEEP_MOST && str_split(&list, ',', &item) && str_to_i64(item, &sizes[n]);)
        n++;
    return n;
}

assay_status job_list_configs(const job_config_list *j, assay_error *err)
{
    const assay_options *o = j->o;
    int64_t swept[SWEEP_MOST] = {o->model.batch};
    uint32_t n = o->measure.configs.n       ? o->measure.configs.n
                 : o->measure.batch_sizes.n ? o->measure.batch_sizes.n
                 : j->sweep                 ? list_sweep(swept)
                                            : 1;
    str precision = job_precision_name(o);
    j->m->configs = ARENA_ARRAY(j->p->arena, profile_config, n);
    TRY_MEMORY(j->m->configs, err);
    for (uint32_t i = 0; i < n; i++) {
        profile_config *c = &j->m->configs[i];
        c->precision = o->measure.configs.n
                           ? str_copy(j->p->arena, o->measure.configs.items[i].precision)
                           : precision;
        c->batch = (uint64_t)(o->measure.configs.n       ? o->measure.configs.items[i].batch
                              : o->measure.batch_sizes.n ? o->measure.batch_sizes.items[i]
                                                         : swept[i]);
    }
    *j->count = n;
    return ASSAY_OK;
}

static bool same_as_any(const profile_config *list, uint32_t n, const profile_config *c)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].batch == c->batch && str_eq(list[i].precision, c->precision))
            return true;
    return false;
}

/* A model without a batch runs one sample at a time: a list of sizes is one size. What --batch or --configs ask for
 * by name fails by itself. */
assay_status job_list_samples(const job_config_list *j, assay_error *err)
{
    const batch_rule *rule;
    const assay_options *o = j->o;
    bool others = false;
    uint32_t kept = 0;
    TRY(job_model_build(j->model, o, err));
    TRY(job_batch_rule(j->model, o, &rule, err));
    batch_describe(rule, j->p);
    bool sweep = o->measure.batch_sizes.n || j->sweep;
    for (uint32_t i = 0; i < *j->count; i++)
        others = others || j->m->configs[i].batch > 1;
    if (rule->present || o->measure.configs.n || !sweep || !others)
        return ASSAY_OK;
    notes_add(&j->p->warnings, "no-batch", (str){0},
              "Change input sizes with --input-shape or --dim.",
              "The model has no batch dimension (" STR_FMT "). It runs one sample at a time.",
              STR_ARG(rule->why));
    for (uint32_t i = 0; i < *j->count; i++) {
        profile_config *c = &j->m->configs[i];
        c->batch = 1;
        if (!same_as_any(j->m->configs, kept, c))
            j->m->configs[kept++] = *c;
    }
    *j->count = kept;
    return ASSAY_OK;
}
