/* explain_layer: one layer of a profile, its share of the model, its operator's formula and its neighbours. */
#include <inttypes.h>
#include <stdio.h>

#include "base/near.h"
#include "mcp/mcp.h"

/* ---- finding it ---- */

static const char *layer_name_at(uint32_t i, const void *ctx)
{
    const json_value *layers = ctx;
    return i < layers->n ? json_path(&layers->items[i], "name")->s.p : NULL;
}

static assay_status no_such_layer(const json_value *layers, const char *name, assay_error *err)
{
    const char *near[3];
    sbuf hint = {0};
    near_put(&hint, near, near_names(str_of(name), layer_name_at, layers, near, 3));
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "the model has no layer '%.200s'; it has %u, numbered from 1.%s",
                              name, layers->n, sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* By name; else by number. */
static assay_status find_layer(const json_value *layers, const char *name, uint32_t *out,
                               assay_error *err)
{
    uint64_t number;
    for (*out = 0; *out < layers->n; ++*out)
        if (str_is(json_path(&layers->items[*out], "name")->s, name))
            return ASSAY_OK;
    if (!str_to_u64(str_of(name), &number) || number < 1 || number > layers->n)
        return no_such_layer(layers, name, err);
    *out = (uint32_t)number - 1;
    return ASSAY_OK;
}

/* ---- shares ---- */

/* What a layer's key is a share of: the sum over all layers. */
static const struct layer_share {
    const char *key, *label;
} shares[] = {
    {"flops", "FLOPs"},           {"macs", "MACs"},
    {"memory", "memory traffic"}, {"parameters", "parameters"},
    {"time_ms", "measured time"},
};

static double sum_of(const json_value *layers, const char *key)
{
    double sum = 0;
    for (uint32_t i = 0; i < layers->n; i++)
        sum += json_path(&layers->items[i], key)->f;
    return sum;
}

static uint64_t rank_of(const json_value *layers, uint32_t at, const char *key)
{
    uint64_t rank = 1;
    for (uint32_t i = 0; i < layers->n; i++)
        rank += json_path(&layers->items[i], key)->f > json_path(&layers->items[at], key)->f;
    return rank;
}

static void put_share(mcp_call *c, const json_value *layers, uint32_t at,
                      const struct layer_share *s)
{
    const json_value *v = json_path(&layers->items[at], s->key);
    double sum = sum_of(layers, s->key);
    if (!json_is_number(v) || !(sum > 0))
        return;
    uint64_t rank = rank_of(layers, at, s->key);
    json_key(&c->data, s->key);
    json_object(&c->data);
    json_key(&c->data, "percent");
    json_f64(&c->data, 100 * v->f / sum);
    key_u64(&c->data, "rank", rank);
    json_end(&c->data);
    sbuf_printf(&c->text, "- %.2f %% of the %s (%.15g of %.15g), rank %" PRIu64 " of %u\n",
                100 * v->f / sum, s->label, v->f, sum, rank, layers->n);
}

static void put_shares(mcp_call *c, const json_value *layers, uint32_t at)
{
    json_key(&c->data, "share");
    json_object(&c->data);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        put_share(c, layers, at, &shares[i]);
    json_end(&c->data);
}

/* ---- neighbours ---- */

static bool share_value(const json_value *outputs, const json_value *inputs)
{
    for (uint32_t i = 0; i < outputs->n; i++)
        for (uint32_t k = 0; k < inputs->n; k++)
            if (outputs->items[i].s.n && str_eq(outputs->items[i].s, inputs->items[k].s))
                return true;
    return false;
}

/* Layers whose `theirs` has a value of this layer's `own`. */
static void put_neighbours(mcp_call *c, const json_value *layers, uint32_t at, bool before)
{
    const json_value *own = json_path(&layers->items[at], before ? "inputs" : "outputs");
    uint32_t found = 0;
    json_key(&c->data, before ? "before" : "after");
    json_array(&c->data);
    for (uint32_t i = 0; i < layers->n && found < MCP_LIST_MOST; i++) {
        const json_value *theirs = json_path(&layers->items[i], before ? "outputs" : "inputs");
        if (i == at || !share_value(own, theirs))
            continue;
        json_str(&c->data, json_path(&layers->items[i], "name")->s);
        found++;
    }
    json_end(&c->data);
}

/* ---- the operator ---- */

/* op is Name, or domain::Name. */
static bool is_operator(str op, const assay_op_info *o)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s::%s", o->domain, o->name);
    return str_is(op, o->name) || str_is(op, whole);
}

static void put_operator(mcp_call *c, str op)
{
    assay_op_info o = {.size = sizeof o};
    for (size_t i = 0; assay_op_at(i, &o); i++) {
        if (!is_operator(op, &o))
            continue;
        json_key(&c->data, "operator");
        json_object(&c->data);
        key_cstr(&c->data, "name", o.name);
        key_cstr(&c->data, "domain", o.domain);
        key_cstr(&c->data, "type", o.type);
        key_cstr(&c->data, "formula", o.formula);
        json_end(&c->data);
        sbuf_printf(&c->text, "- Cost rule of %s: %s\n", o.name, o.formula);
        return;
    }
}

/* ---- the whole ---- */

static void put_heading(mcp_call *c, const json_value *layers, uint32_t at)
{
    const json_value *l = &layers->items[at];
    const str name = json_path(l, "name")->s, op = json_path(l, "op")->s,
              bound = json_path(l, "bottleneck")->s;
    sbuf_puts(&c->text, "Layer `");
    for (uint32_t i = 0; i < name.n; i++) /* a name stays on its line, inside its quotes */
        sbuf_putc(&c->text, (unsigned char)name.p[i] < 0x20 || name.p[i] == '`' ? '?' : name.p[i]);
    sbuf_printf(&c->text, "` is number %u of %u, operator " STR_FMT, at + 1, layers->n,
                STR_ARG(op));
    sbuf_printf(&c->text, ", " STR_FMT " at %.4g FLOPs per byte.\n\n", STR_ARG(bound),
                json_path(l, "arithmetic_intensity")->f);
}

static assay_status put_layer(mcp_call *c, const json_value *tree, assay_error *err)
{
    const json_value *layers = json_path(tree, "layers");
    uint32_t at = 0;
    TRY(find_layer(layers, mcp_text(c, "layer"), &at, err));
    put_heading(c, layers, at);
    mcp_put_members(c, tree, (const char *[]){"model", "lens", NULL});
    key_u64(&c->data, "number", at + 1);
    key_u64(&c->data, "of", layers->n);
    json_key(&c->data, "layer");
    mcp_put_value(&c->data, &layers->items[at]);
    put_shares(c, layers, at);
    put_operator(c, json_path(&layers->items[at], "op")->s);
    put_neighbours(c, layers, at, true);
    put_neighbours(c, layers, at, false);
    return ASSAY_OK;
}

assay_status mcp_explain_layer(mcp_call *c, assay_error *err)
{
    assay_result *r = NULL;
    json_value tree;
    TRY(mcp_open_profile(c, mcp_text(c, "model"), &r, err));
    assay_status s = mcp_tree_of(c, r, &tree, err);
    if (s == ASSAY_OK)
        s = put_layer(c, &tree, err);
    assay_result_free(r);
    return s;
}
