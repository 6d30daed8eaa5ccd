#include "study/smaller.h"

#include <math.h>

#include "analyze/advise.h"

static const char *const width_keys[] = {
    "embed_dim", "hidden_size", "n_embd",   "d_model",        "hidden_dim",         "width",
    "dim",       "width_mult",  "channels", "block_channels", "block_out_channels", "growth_rate"};
static const char *const depth_keys[] = {"depths",   "layers",       "num_hidden_layers", "n_layer",
                                         "n_layers", "num_layers",   "block_layers",      "depth",
                                         "blocks",   "block_config", "layers_per_block"};

const char *smaller_key(smaller_kind kind, uint32_t index)
{
    const bool width = kind == SMALLER_WIDTH;
    const size_t n = width ? sizeof width_keys / sizeof *width_keys
                           : sizeof depth_keys / sizeof *depth_keys;
    return index < n ? (width ? width_keys : depth_keys)[index] : NULL;
}

static bool scale_number(json_value *v, double by, int64_t granule)
{
    if (v->kind == JSON_REAL) {
        v->f = round(v->f * by * 1000) / 1000;
        return v->f > 0;
    }
    int64_t to = (int64_t)((double)v->i * by + (granule == 0 ? 0.999 : 0));
    to = granule > 1 ? to / granule * granule : to;
    bool smaller = v->kind == JSON_INT && to > 0 && to < v->i;
    v->i = to;
    v->f = (double)to;
    return smaller;
}

/* A copy with every number smaller; false when that is not possible. granule 0: rounded up, for counts of
 * layers, of which one may stay. */
static bool scaled(arena *a, const json_value *from, double by, int64_t granule, json_value *to)
{
    *to = *from;
    if (json_is_number(from))
        return scale_number(to, by, granule);
    if (from->kind != JSON_LIST || from->n == 0)
        return false;
    json_value *items = arena_copy(a, from->items, sizeof *items * from->n);
    bool any = false;
    for (uint32_t k = 0; items && k < from->n; k++) {
        if (items[k].kind != JSON_INT)
            return false;
        bool smaller = scale_number(&items[k], by, granule);
        if (!smaller && granule)
            return false;
        any |= smaller;
        if (!smaller)
            items[k] = from->items[k];
    }
    to->items = items;
    return any;
}

bool smaller_value(smaller_kind kind, const json_value *from, uint32_t try, arena *a,
                   json_value *to)
{
    static const int64_t granules[SMALLER_TRIES] = {64, 32, 12, 6, 1};
    if (kind == SMALLER_DEPTH)
        return try == 0 && scaled(a, from, 2.0 / 3, 0, to);
    return scaled(a, from, 0.75, granules[try], to);
}

static void put_value(sbuf *b, const json_value *v)
{
    if (v->kind == JSON_INT)
        sbuf_printf(b, "%lld", (long long)v->i);
    else if (v->kind == JSON_REAL)
        advise_number(b, v->f, 2);
    for (uint32_t k = 0; v->kind == JSON_LIST && k < v->n; k++) {
        sbuf_puts(b, k ? "," : "");
        put_value(b, &v->items[k]);
    }
}

str smaller_text(arena *a, const char *key, const json_value *from, const json_value *to)
{
    sbuf b = {0};
    sbuf_printf(&b, "%s ", key);
    put_value(&b, from);
    sbuf_puts(&b, " → ");
    put_value(&b, to);
    str s = str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return s;
}
