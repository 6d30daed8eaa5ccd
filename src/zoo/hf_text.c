/* Text transformers: inputs, masks, caches, attention. */
#include "zoo/hf_text.h"

#include <float.h>
#include <math.h>

#include "zoo/nn_impl.h"

/* ---- inputs ---- */

static hf_text text_input(nn *b, bool causal, int64_t usual)
{
    hf_text t = {.b = b, .causal = causal};
    int64_t seq = nn_int_in(b, "seq_len", usual, 1, HF_TOKENS);
    t.past = causal ? nn_int_in(b, "past", 0, 0, HF_TOKENS) : 0;
    if (t.past > 0 && !nn_has(b, "seq_len"))
        seq = 1;
    t.ids = nn_input(b, "input_ids", IR_INT64, 2, (const int64_t[]){1, seq});
    t.batch = t.ids.d[0];
    t.seq = t.ids.d[1];
    const int64_t all[] = {t.batch, t.past + t.seq};
    t.mask = nn_input(b, "attention_mask", IR_INT64, 2, all);
    if (nn_ok(b) && (t.seq > HF_TOKENS || t.mask.d[0] != all[0] || t.mask.d[1] != all[1]))
        nn_fail(b, "attention_mask is %s but must be [%lld,%lld] for these input_ids",
                nn_dims_text(b, t.mask), (long long)all[0], (long long)all[1]);
    return t;
}

hf_text hf_text_input(nn *b, bool causal, int64_t most)
{
    return text_input(b, causal, most > 0 && most < 128 ? most : 128);
}

hf_text hf_text_prompt(nn *b, int64_t usual)
{
    return text_input(b, true, usual);
}

nn_t hf_positions(nn *b, int64_t from, int64_t n, int64_t rows)
{
    if (nn_ok(b) && from + n > rows)
        nn_fail(b, "the model has %lld positions; the last token is at %lld", (long long)rows,
                (long long)(from + n - 1));
    int64_t *at = nn_ok(b) ? ARENA_ARRAY(b->scratch, int64_t, (size_t)n) : NULL;
    for (int64_t i = 0; at && i < n; i++)
        at[i] = from + i;
    return nn_table_of(b, "position_ids", IR_INT64, 1, &n, at);
}

/* ---- masks ---- */

/* Tokens of the past that a layer with this window keeps. */
static int64_t hf_kept(const hf_text *t, int64_t window)
{
    return window > 0 && t->past > window - 1 ? window - 1 : t->past;
}

static nn_t compare(nn *b, const char *op, const char *name, nn_t x, nn_t y)
{
    nn_t out = nn_shape(IR_BOOL, 2, (const int64_t[]){y.d[0], x.d[1]});
    return nn_one(b, op, name, 2, (const nn_t[]){x, y}, out, 0, NULL);
}

/* Which of n keys every query may see by position: not later ones, none beyond the window. */
static nn_t visible_by_place(const hf_text *t, int64_t past, int64_t n, int64_t window)
{
    nn *b = t->b;
    nn_t keys = nn_reshape(b, "mask/keys", hf_positions(b, 0, n, n), 2, (const int64_t[]){1, n});
    nn_t last = hf_positions(b, past, t->seq, past + t->seq);
    last = nn_reshape(b, "mask/queries", last, 2, (const int64_t[]){t->seq, 1});
    nn_t seen = compare(b, "LessOrEqual", "mask/causal", keys, last);
    if (window <= 0 || n <= window)
        return seen;
    nn_t first = hf_positions(b, past - window, t->seq, past + t->seq);
    first = nn_reshape(b, "mask/first", first, 2, (const int64_t[]){t->seq, 1});
    nn_t near = compare(b, "Greater", "mask/window", keys, first);
    return nn_binary(b, "And", "mask/near", seen, near);
}

/* [B, 1, 1, n] of attention_mask's last n columns, as bool. */
static nn_t visible_by_mask(const hf_text *t, int64_t n)
{
    nn *b = t->b;
    nn_t x = t->mask;
    if (n < x.d[1])
        x = nn_slice(b, "mask/last", x, 1, x.d[1] - n, x.d[1]);
    nn_t out = x;
    out.dtype = IR_BOOL;
    x = nn_one(b, "Cast", "mask/bool", 1, &x, out, 1, &NN_INT("to", IR_BOOL));
    return nn_reshape(b, "mask/reshape", x, 4, (const int64_t[]){t->batch, 1, 1, n});
}

static bool needs_places(const hf_text *t, int64_t n, int64_t window)
{
    return t->causal &&
           (t->written_out || (t->past > 0 && t->seq > 1) || (window > 0 && n > window));
}

/* 0 where a key is seen, the most negative number where not; is_causal does the rest of a prefill.
 * */
static nn_t make_bias(const hf_text *t, int64_t window)
{
    nn *b = t->b;
    int64_t past = hf_kept(t, window), n = past + t->seq;
    bool places = needs_places(t, n, window), padded = t->mask.id != IR_NONE;
    if (!places && !padded)
        return NN_ABSENT;
    nn_t seen = padded ? visible_by_mask(t, n) : NN_ABSENT;
    nn_t near = places ? visible_by_place(t, past, n, window) : NN_ABSENT;
    if (!padded)
        seen = nn_reshape(b, "mask/reshape", near, 4, (const int64_t[]){1, 1, t->seq, n});
    else if (places)
        seen = nn_binary(b, "And", "mask/and", seen, near);
    nn_t out = seen;
    out.dtype = IR_FLOAT32;
    const nn_t in[] = {seen, nn_float_const(b, "mask.seen", 0.0),
                       nn_float_const(b, "mask.hidden", -FLT_MAX)};
    return nn_one(b, "Where", "mask", 3, in, out, 0, NULL);
}

nn_t hf_mask(hf_text *t, int64_t window)
{
    int64_t keys = hf_kept(t, window) + t->seq;
    for (int i = 0; i < t->n_biases; i++)
        if (t->biases[i].keys == keys && (t->biases[i].window == window || keys <= window))
            return t->biases[i].bias;
    nn_t bias = make_bias(t, window);
    if (t->n_biases < HF_BIASES) {
        t->biases[t->n_biases].window = window;
        t->biases[t->n_biases].keys = keys;
        t->biases[t->n_biases++].bias = bias;
    }
    return bias;
}

/* ---- caches ---- */

nn_t hf_cache(hf_text *t, int layer, const char *what, nn_t x, int64_t window)
{
    nn *b = t->b;
    int64_t kept = hf_kept(t, window);
    if (t->past == 0)
        return x;
    const char *in = arena_printf(b->scratch, "past_key_values.%d.%s", layer, what),
               *out = arena_printf(b->scratch, "present.%d.%s", layer, what);
    if (kept > 0) {
        const int64_t dims[] = {x.d[0], x.d[1], kept, x.d[3]};
        nn_t past = nn_input(b, in, IR_FLOAT32, 4, dims);
        x = nn_concat(b, strstr(what, "key") ? "keys" : "values", 2, (const nn_t[]){past, x}, 2);
    }
    nn_output(b, x, out);
    return x;
}

nn_t hf_kept_heads(hf_text *t, int layer, const char *what, int64_t heads, int64_t size)
{
    const char *in = arena_printf(t->b->scratch, "past_key_values.%d.encoder.%s", layer, what);
    return nn_input(t->b, in, IR_FLOAT32, 4, (const int64_t[]){t->batch, heads, t->seq, size});
}

hf_text hf_text_target(nn *b, const hf_text *source)
{
    hf_text t = {.b = b, .causal = true, .mask = NN_ABSENT, .past = source->past};
    int64_t n = nn_int_in(b, "decoder_seq_len", t.past > 0 ? 1 : source->seq, 1, HF_TOKENS);
    const char *name = t.past > 0 ? "input_ids" : "decoder_input_ids";
    t.ids = nn_input(b, name, IR_INT64, 2, (const int64_t[]){source->batch, n});
    t.batch = t.ids.d[0];
    t.seq = t.ids.d[1];
    return t;
}

/* ---- attention ---- */

static nn_t pairs_shape(nn_t q, nn_t k)
{
    return NN_F32(k.d[0], k.d[1], q.d[1] / (k.d[1] > 0 ? k.d[1] : 1), q.d[2], k.d[2]);
}

/* Written out, for a softmax with a sink: grouped queries as [B, kv, H/kv, S, D]. */
static nn_t attend_with_sinks(nn *b, nn_t q, nn_t k, nn_t v, nn_t bias, const hf_attention *a)
{
    nn_t s = pairs_shape(q, k);
    int64_t heads = q.d[1], n = k.d[2];
    q = nn_scale(b, "scale", q, a->scale);
    q = nn_reshape(b, "group", q, 5, (const int64_t[]){s.d[0], s.d[1], s.d[2], s.d[3], q.d[3]});
    nn_t keys = nn_swap(b, "keys/transpose", nn_unsqueeze(b, "keys/group", k, 2));
    nn_t scores = nn_matmul(b, "scores", q, keys);
    scores = nn_reshape(b, "ungroup", scores, 4, (const int64_t[]){s.d[0], heads, s.d[3], n});
    scores = nn_add(b, "masked", scores, bias);
    nn_t sink = nn_reshape(b, "sinks/reshape", a->sinks, 4, (const int64_t[]){1, heads, 1, 1});
    sink = nn_expand(b, "sinks/expand", sink, 4, (const int64_t[]){s.d[0], heads, s.d[3], 1});
    scores = nn_concat(b, "with_sinks", 2, (const nn_t[]){scores, sink}, 3);
    nn_t p = nn_one(b, "Softmax", "softmax", 1, &scores, scores, 1, &NN_INT("axis", -1));
    p = nn_slice(b, "without_sinks", p, 3, 0, n);
    p = nn_reshape(b, "probabilities", p, 5, (const int64_t[]){s.d[0], s.d[1], s.d[2], s.d[3], n});
    nn_t out = nn_matmul(b, "context", p, nn_unsqueeze(b, "values/group", v, 2));
    return nn_reshape(b, "heads", out, 4, (const int64_t[]){s.d[0], heads, s.d[3], v.d[3]});
}

static nn_t attend(const hf_text *t, nn_t q, nn_t k, nn_t v, nn_t bias, const hf_attention *a)
{
    nn_t out = q;
    nn_attr attrs[4];
    int n = 0;
    out.d[3] = v.d[3];
    attrs[n++] = NN_FLOAT("scale", a->scale);
    if (a->softcap != 0.0)
        attrs[n++] = NN_FLOAT("softcap", a->softcap);
    if (t->causal && t->past == 0)
        attrs[n++] = NN_INT("is_causal", 1);
    if (a->window > 0 && k.d[2] > a->window)
        attrs[n++] = NN_INT("left_window_size",
                            a->window - 1); /* as the mask says, for the count */
    return nn_one(t->b, "Attention", "attention", bias.id == IR_NONE ? 3 : 4,
                  (const nn_t[]){q, k, v, bias}, out, n, attrs);
}

nn_t hf_attend_heads(hf_text *t, nn_t q, nn_t k, nn_t v, const hf_attention *a)
{
    nn *b = t->b;
    hf_attention own = *a;
    if (nn_ok(b) && (q.rank != 4 || k.rank != 4 || q.d[3] != k.d[3] || k.d[1] < 1 ||
                     q.d[1] % k.d[1] || k.d[2] != v.d[2]))
        nn_fail(b, "queries %s and keys %s do not match", nn_dims_text(b, q), nn_dims_text(b, k));
    if (!nn_ok(b))
        return nn_harmless(NN_F32(q.d[0], q.d[1], q.d[2], v.d[3]));
    if (own.scale == 0.0)
        own.scale = 1.0 / sqrt((double)q.d[3]);
    nn_t bias = a->bias.id == IR_NONE ? hf_mask(t, a->window) : a->bias;
    return a->sinks.id == IR_NONE ? attend(t, q, k, v, bias, &own)
                                  : attend_with_sinks(b, q, k, v, bias, &own);
}

nn_t hf_attend(hf_text *t, nn_t q, nn_t k, nn_t v, const hf_attention *a)
{
    return nn_unheads(t->b, hf_attend_heads(t, q, k, v, a));
}
