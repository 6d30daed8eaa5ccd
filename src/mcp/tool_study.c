/* profile, compare, map: one function of the library each, its Markdown as text and its main keys as data. */
#include <assay/study.h>

#include "mcp/mcp.h"

static const char *const profile_keys[] = {"schema",
                                           "model",
                                           "conclusion",
                                           "lens",
                                           "config",
                                           "architecture",
                                           "total_flops",
                                           "total_macs",
                                           "total_memory",
                                           "total_parameters",
                                           "total_operators",
                                           "arithmetic_intensity",
                                           "cost",
                                           "accounting",
                                           "operations",
                                           "bottlenecks",
                                           "latency",
                                           "throughput",
                                           "memory",
                                           "utilization",
                                           "training",
                                           "recommendations",
                                           "warnings",
                                           NULL};
static const char *const plan_keys[] = {"weights_bytes", "activations_peak_bytes",
                                        "peak_bytes",    "lower_bound_bytes",
                                        "peak_node",     NULL};
static const char *const layer_keys[] = {
    "name",       "type",    "op",    "module", "output_shapes",
    "parameters", "macs",    "flops", "memory", "arithmetic_intensity",
    "bottleneck", "time_ms", NULL};
static const char *const comparison_keys[] = {
    "schema",         "lens",   "conclusion", "models", "types", "same_layers",
    "renamed_layers", "layers", "measured",   "peak",   NULL};
static const char *const map_keys[] = {"schema",  "model",      "conclusion", "config",
                                       "devices", "accounting", "warnings",   NULL};

static void put_part(mcp_call *c, const char *key, const json_value *object,
                     const char *const *keys)
{
    json_key(&c->data, key);
    json_object(&c->data);
    mcp_put_members(c, object, keys);
    json_end(&c->data);
}

/* ---- profile ---- */

static double flops_of(const json_value *layer)
{
    return json_path(layer, "flops")->f;
}

/* The place of the most expensive layer that is cheaper than the last one, or as expensive and behind it; n: none. */
static uint32_t next_layer(const json_value *layers, uint32_t last)
{
    uint32_t best = layers->n;
    for (uint32_t i = 0; i < layers->n; i++) {
        double f = flops_of(&layers->items[i]);
        bool after = last >= layers->n || f < flops_of(&layers->items[last]) ||
                     (!(f > flops_of(&layers->items[last])) && i > last);
        if (after && (best == layers->n || f > flops_of(&layers->items[best])))
            best = i;
    }
    return best;
}

static void put_top_layers(mcp_call *c, const json_value *profile)
{
    const json_value *layers = json_path(profile, "layers");
    uint32_t at = layers->n;
    json_key(&c->data, "top_layers");
    json_array(&c->data);
    for (int64_t i = mcp_whole(c, "top", 10); i > 0; i--) {
        at = next_layer(layers, at);
        if (at >= layers->n)
            break;
        json_object(&c->data);
        mcp_put_members(c, &layers->items[at], layer_keys);
        json_end(&c->data);
    }
    json_end(&c->data);
}

static assay_status put_profile(mcp_call *c, const assay_result *r, assay_error *err)
{
    json_value tree;
    TRY(mcp_put_markdown(c, r, err));
    TRY(mcp_tree_of(c, r, &tree, err));
    mcp_put_members(c, &tree, profile_keys);
    put_part(c, "memory_plan", json_path(&tree, "memory_plan"), plan_keys);
    put_top_layers(c, &tree);
    return ASSAY_OK;
}

assay_status mcp_profile(mcp_call *c, assay_error *err)
{
    assay_result *r = NULL;
    TRY(mcp_open_profile(c, mcp_text(c, "model"), &r, err));
    assay_status s = put_profile(c, r, err);
    assay_result_free(r);
    return s;
}

/* ---- compare ---- */

static assay_status put_comparison(mcp_call *c, assay_result *const *profiles, size_t n,
                                   assay_error *err)
{
    const assay_result *all[12] = {0};
    assay_result *r = NULL;
    json_value tree;
    for (size_t i = 0; i < n; i++)
        all[i] = profiles[i];
    TRY(assay_compare(all, n, c->options, &r, err));
    assay_status s = mcp_put_markdown(c, r, err);
    if (s == ASSAY_OK)
        s = mcp_tree_of(c, r, &tree, err);
    if (s == ASSAY_OK)
        mcp_put_members(c, &tree, comparison_keys);
    assay_result_free(r);
    return s;
}

assay_status mcp_compare(mcp_call *c, assay_error *err)
{
    const json_value *models = json_get(c->arguments, "models");
    assay_result *profiles[12] = {0};
    assay_status s = assay_options_set(c->options, "dims-may-miss", "true", err);
    for (uint32_t i = 0; i < models->n && s == ASSAY_OK; i++)
        s = mcp_open_profile(c, models->items[i].s.p, &profiles[i], err);
    if (s == ASSAY_OK)
        s = put_comparison(c, profiles, models->n, err);
    for (uint32_t i = 0; i < models->n; i++)
        assay_result_free(profiles[i]);
    return s;
}

/* ---- map ---- */

assay_status mcp_map(mcp_call *c, assay_error *err)
{
    assay_model *m = NULL;
    assay_result *r = NULL;
    json_value tree;
    TRY(assay_model_open(mcp_text(c, "model"), &m, err));
    assay_status s = assay_map(m, c->options, &r, err);
    if (s == ASSAY_OK)
        s = mcp_put_markdown(c, r, err);
    if (s == ASSAY_OK)
        s = mcp_tree_of(c, r, &tree, err);
    if (s == ASSAY_OK)
        mcp_put_members(c, &tree, map_keys);
    if (s == ASSAY_OK)
        put_part(c, "map", json_path(&tree, "map"), (const char *[]){"prediction", NULL});
    assay_result_free(r);
    assay_model_free(m);
    return s;
}
