/* Times of layers on llama.cpp: names of tensors for measure/llama_layers.h. */
#include "formats/weights.h"
#include "jobs/measure_llama_impl.h"
#include "measure/llama_layers.h"

static str checkpoint_name(const void *ctx, str tensor)
{
    const weight_set *w = ctx;
    for (uint32_t i = 0; w && i < w->items.n; i++)
        if (str_eq(w->items.items[i].name, tensor))
            return w->items.items[i].as.n ? w->items.items[i].as : tensor;
    return (str){0};
}

assay_status llama_fill_layers(llama_job *j, const generate_answer *a, assay_error *err)
{
    j->p->measured = j->measured;
    return llama_layers_fill(&(llama_layers_request){.answer = a,
                                                     .patterns = j->o->measure.layer_patterns,
                                                     .checkpoint = checkpoint_name,
                                                     .ctx = j->m->weights,
                                                     .work = j->work},
                             j->p, err);
}
