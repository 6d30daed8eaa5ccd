/* Data of a mapped model for recommendations, without a new analysis. */
#include "analyze/advise.h"

#include "analyze/roofline.h"
#include "base/num.h"

enum { LARGER_BATCH = 8 };

static advise_case case_at(const roofline_model *m, const profile *p, int64_t batch, uint32_t width)
{
    double held = roofline_model_at(m, batch)->weights_bytes[width],
           peak = roofline_inference_bytes(m, batch, width),
           moved = roofline_moved_bytes(m, batch, width), flops = roofline_flops(m, batch);
    return (advise_case){.present = true,
                         .flops = (uint64_t)flops,
                         .memory = (uint64_t)moved,
                         .parameters = p->total_parameters,
                         .weights_bytes = sat_whole(held),
                         .activations_bytes = sat_whole(peak - held),
                         .peak_bytes = sat_whole(peak),
                         .intensity = moved > 0 ? flops / moved : 0,
                         .times = 1};
}

void advise_know_mapped(const roofline_model *m, const profile *p, advise_facts *f)
{
    for (uint32_t w = 0; m->single && w < 2; w++) {
        if (sat_whole(roofline_moved_bytes(m, 1, w)) != p->total_memory)
            continue;
        f->cases[ADVISE_BATCH] = case_at(m, p, LARGER_BATCH, w);
        f->cases[ADVISE_BATCH].change = STR("batch 1 → 8");
        f->cases[ADVISE_BATCH].times = LARGER_BATCH;
        f->cases[ADVISE_BATCH].samples = 1;
        if (w > 0)
            continue;
        f->cases[ADVISE_HALF] = case_at(m, p, 1, 1);
        f->cases[ADVISE_BYTE] = case_at(m, p, 1, 2);
    }
}

void advise_know_asked(const roofline_model *m, const bool precisions[DEVICE_PRECISIONS],
                       const profile *p, advise_facts *f)
{
    const mapping_row *first = p->mapping->n_rows ? &p->mapping->rows[0] : NULL;
    f->done[ADVISE_HALF] = precisions[DEVICE_FP16] || precisions[DEVICE_BF16];
    f->done[ADVISE_BYTE] = precisions[DEVICE_INT8];
    if (!first)
        return;
    uint32_t width = roofline_width_of(device_precision_find(str_of(first->precision)));
    f->placed_alike = sat_whole(roofline_moved_bytes(m, first->batch, width)) == p->total_memory;
}
