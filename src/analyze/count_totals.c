/* What follows from counted layers: bounds by arithmetic intensity, sums by operator type. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "base/map.h"
#include "base/num.h"

uint64_t count_flops(const profile_ops *o)
{
    uint64_t flops = sat_add(sat_mul(2, o->mac), sat_add(o->add, o->mul));
    return sat_add(sat_add(flops, sat_add(o->div, o->special)), o->cmp);
}

void count_judge_bounds(profile *p, double threshold)
{
    profile_bottlenecks *b = &p->bottlenecks;
    uint64_t compute_flops = 0, compute_layers = 0, all_flops = count_flops(&p->ops);
    b->threshold = threshold > 0 ? threshold : BAND_COMPUTE_FROM;
    for (uint32_t k = 0; k < p->n_layers; k++) {
        profile_layer *l = &p->layers[k];
        uint64_t flops = count_flops(&l->ops);
        l->arithmetic_intensity = num_ratio(flops, l->memory);
        l->compute_bound = l->arithmetic_intensity >= b->threshold;
        l->band = band_of(BAND_INTENSITY, l->arithmetic_intensity)->id;
        compute_layers += l->compute_bound;
        compute_flops = sat_add(compute_flops, l->compute_bound ? flops : 0);
    }
    b->compute_bound_percent = 100 * num_ratio(compute_flops, all_flops);
    b->memory_bound_percent = all_flops ? 100 - b->compute_bound_percent : 0;
    b->compute_bound_layers_percent = 100 * num_ratio(compute_layers, p->n_layers);
    b->memory_bound_layers_percent = p->n_layers ? 100 - b->compute_bound_layers_percent : 0;
}

static int by_flops(const void *a, const void *b)
{
    const profile_operation *x = a, *y = b;
    if (x->flops != y->flops)
        return x->flops < y->flops ? 1 : -1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? 1 : -1;
    return str_cmp(x->type, y->type);
}

assay_status count_break_down(profile *p, arena *work, assay_error *err)
{
    VEC(profile_operation) ops = {0};
    map by_type;
    TRY_MEMORY(map_init(&by_type, work, 64), err);
    for (uint32_t k = 0; k < p->n_layers; k++) {
        const profile_layer *l = &p->layers[k];
        uint32_t at = map_get(&by_type, l->type);
        if (at == MAP_NONE) {
            at = ops.n;
            profile_operation *o = VEC_PUSH(p->arena, &ops);
            TRY_MEMORY(o && map_put(&by_type, l->type, at), err);
            o->type = l->type;
        }
        assert(at < ops.n && ops.items);
        profile_operation *o = &ops.items[at];
        o->count++;
        o->flops = sat_add(o->flops, l->flops);
        o->macs = sat_add(o->macs, l->macs);
        o->memory = sat_add(o->memory, l->memory);
        o->parameters = sat_add(o->parameters, l->parameters);
    }
    for (uint32_t k = 0; k < ops.n; k++)
        ops.items[k].percent = 100 * num_ratio(ops.items[k].flops, p->total_flops);
    if (ops.n)
        qsort(ops.items, ops.n, sizeof *ops.items, by_flops);
    p->operations = ops.items;
    p->n_operations = ops.n;
    return ASSAY_OK;
}
