/* Groups of the fusion partitioner and what they amount to; patterns that were found. A group and a pattern
 * take one line each. */
#include "profile/profile_json.h"

static void put_names(json_writer *w, const char *key, const str *names, uint32_t n)
{
    json_key(w, key);
    json_flat_array(w);
    for (uint32_t i = 0; i < n; i++)
        json_str(w, names[i]);
    json_end(w);
}

static void put_group(json_writer *w, const fusion_group *g, uint32_t id)
{
    json_flat_object(w);
    key_u64(w, "id", id);
    key_str(w, "kind", g->kind);
    put_names(w, "nodes", g->nodes, g->n_nodes);
    key_u64(w, "flops", g->flops);
    key_u64(w, "macs", g->macs);
    key_u64(w, "memory", g->memory);
    key_u64(w, "boundary_bytes", g->boundary_bytes);
    key_f64(w, "arithmetic_intensity", g->arithmetic_intensity);
    key_f64(w, "intensity_before", g->intensity_before);
    key_u64(w, "launches", g->launches);
    key_u64(w, "level", g->level);
    key_bool(w, "critical", g->critical);
    json_key(w, "depends_on");
    json_flat_array(w);
    for (uint32_t i = 0; i < g->n_depends_on; i++)
        json_u64(w, g->depends_on[i]);
    json_end(w);
    json_end(w);
}

static void put_kinds(json_writer *w, const profile_fusion *f)
{
    json_key(w, "kinds");
    json_array(w);
    for (uint32_t i = 0; i < f->n_kinds; i++) {
        const fusion_kind *k = &f->kinds[i];
        json_flat_object(w);
        key_str(w, "kind", k->kind);
        key_u64(w, "groups", k->groups);
        key_u64(w, "nodes", k->nodes);
        key_u64(w, "flops", k->flops);
        key_u64(w, "memory", k->memory);
        key_u64(w, "boundary_bytes", k->boundary_bytes);
        json_end(w);
    }
    json_end(w);
}

static void put_differences(json_writer *w, const fusion_engine *e)
{
    json_key(w, "differences");
    json_array(w);
    for (uint32_t i = 0; i < e->n_differences; i++) {
        const fusion_difference *d = &e->differences[i];
        json_flat_object(w);
        key_cstr(w, "what", d->what);
        key_str(w, "kernel", d->kernel);
        key_str(w, "op", d->op);
        key_str(w, "kind", d->kind);
        key_str(w, "detail", d->detail);
        json_end(w);
    }
    json_end(w);
}

static void put_reasons(json_writer *w, const fusion_engine *e)
{
    json_key(w, "reasons");
    json_array(w);
    for (uint32_t i = 0; i < e->n_reasons; i++) {
        const fusion_reason *d = &e->reasons[i];
        json_flat_object(w);
        key_cstr(w, "what", d->what);
        key_str(w, "before", d->before);
        key_str(w, "after", d->after);
        key_u64(w, "pairs", d->pairs);
        json_end(w);
    }
    json_end(w);
}

static void put_engine(json_writer *w, const fusion_engine *e)
{
    if (!e->present)
        return;
    json_key(w, "engine");
    json_object(w);
    key_str(w, "name", e->name);
    key_u64(w, "kernels", e->kernels);
    key_u64(w, "own_kernels", e->own_kernels);
    key_u64(w, "nodes", e->nodes);
    key_u64(w, "same_nodes", e->same_nodes);
    key_u64(w, "groups", e->groups);
    key_u64(w, "same_groups", e->same_groups);
    key_u64(w, "joined_by_both", e->pairs_both);
    key_u64(w, "joined_here_only", e->pairs_ours);
    key_u64(w, "joined_there_only", e->pairs_engine);
    put_reasons(w, e);
    put_differences(w, e);
    json_end(w);
}

static void put_summary(json_writer *w, const profile_fusion *f)
{
    json_key(w, "fusion");
    json_object(w);
    key_cstr(w, "strategy", f->strategy);
    key_u64(w, "groups", f->n_groups);
    key_u64(w, "launches_before", f->launches_before);
    key_u64(w, "launches_after", f->launches_after);
    key_u64(w, "bytes_before", f->bytes_before);
    key_u64(w, "bytes_after", f->bytes_after);
    key_f64(w, "intensity_before", f->intensity_before);
    key_f64(w, "intensity_after", f->intensity_after);
    key_u64(w, "levels", f->levels);
    key_u64(w, "widest_level", f->widest_level);
    key_u64(w, "widest_groups", f->widest_groups);
    key_u64(w, "critical_groups", f->critical_groups);
    key_u64(w, "critical_flops", f->critical_flops);
    key_u64(w, "critical_bytes", f->critical_bytes);
    key_f64(w, "concurrency", f->concurrency);
    put_kinds(w, f);
    put_engine(w, &f->engine);
    json_end(w);
}

void profile_json_fusion(json_writer *w, const profile_fusion *f)
{
    if (!f)
        return;
    json_key(w, "groups");
    json_array(w);
    for (uint32_t i = 0; i < f->n_groups; i++)
        put_group(w, &f->groups[i], i);
    json_end(w);
    put_summary(w, f);
}

void profile_json_patterns(json_writer *w, const profile *p)
{
    if (!p->has_patterns)
        return;
    json_key(w, "patterns");
    json_array(w);
    for (uint32_t i = 0; i < p->n_patterns; i++) {
        const profile_pattern *x = &p->patterns[i];
        json_flat_object(w);
        key_cstr(w, "name", x->name);
        key_cstr(w, "form", x->form);
        key_str(w, "output", x->output);
        put_names(w, "nodes", x->nodes, x->n_nodes);
        key_bool(w, "native", x->native);
        key_u64(w, "flops", x->flops);
        key_u64(w, "macs", x->macs);
        json_end(w);
    }
    json_end(w);
}
