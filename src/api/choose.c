/* Choosing a model in the public API. */
#include "study/choose.h"

#include "api/api.h"

assay_status assay_choose(const char *task, const assay_options *options, assay_choices **out,
                          assay_error *err)
{
    api_begin(err);
    *out = NULL;
    if (!task || !options || !options->hardware.names.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "choosing needs a task and --hardware with device names");
    return job_choose(task, options, out, err);
}

void assay_choices_free(assay_choices *c)
{
    choices_free(c);
}

size_t assay_choices_count(const assay_choices *c)
{
    return c ? c->rows.n : 0;
}

bool assay_choice_at(const assay_choices *c, size_t index, assay_choice *out)
{
    return c && index < c->rows.n && HAND_OUT(out, c->rows.items[index]);
}
