/* Rotary positions: the frequencies of each scaling, the tables of cosines and sines, the rotation. */
#include <math.h>

#include "zoo/hf_text.h"
#include "zoo/nn_impl.h"

static const double two_pi = 6.28318530717958647692;

typedef struct frequencies {
    double *inverse; /* [n] */
    int64_t n, dim;
    double theta, factor, original;
    double amplitude; /* of cosines and sines */
} frequencies;

hf hf_rope_scaling(nn *b)
{
    return (hf){b, nn_has(b, "rope_parameters") ? "rope_parameters" : "rope_scaling"};
}

double hf_rope_mscale(double factor, double mscale)
{
    return factor <= 1.0 ? 1.0 : 0.1 * mscale * log(factor) + 1.0;
}

/* ---- scalings ---- */

static void linear(hf c, frequencies *f)
{
    (void)c;
    for (int64_t i = 0; i < f->n; i++)
        f->inverse[i] /= f->factor;
}

/* Long waves are stretched, short ones kept, those between blended. */
static void llama3(hf c, frequencies *f)
{
    double low = hf_real(c, "low_freq_factor", 1.0), high = hf_real(c, "high_freq_factor", 4.0);
    for (int64_t i = 0; i < f->n; i++) {
        double turns = f->original * f->inverse[i] / two_pi;
        double keep = high != low ? (turns - low) / (high - low) : 1.0;
        keep = keep < 0.0 ? 0.0 : keep > 1.0 ? 1.0 : keep;
        f->inverse[i] = f->inverse[i] * ((1.0 - keep) / f->factor + keep);
    }
}

static double yarn_amplitude(hf c, double factor)
{
    double mscale = hf_real(c, "mscale", 0.0), all = hf_real(c, "mscale_all_dim", 0.0);
    if (mscale != 0.0 && all != 0.0)
        return hf_rope_mscale(factor, mscale) / hf_rope_mscale(factor, all);
    return hf_rope_mscale(factor, 1.0);
}

/* The dimension whose wave turns `turns` times within the original context. */
static double yarn_dimension(const frequencies *f, double turns)
{
    return (double)f->dim * log(f->original / (turns * two_pi)) / (2.0 * log(f->theta));
}

static void yarn(hf c, frequencies *f)
{
    double low = yarn_dimension(f, hf_real(c, "beta_fast", 32.0));
    double high = yarn_dimension(f, hf_real(c, "beta_slow", 1.0));
    if (hf_bool(c, "truncate", true)) {
        low = floor(low);
        high = ceil(high);
    }
    low = low > 0.0 ? low : 0.0;
    high = high < (double)(f->dim - 1) ? high : (double)(f->dim - 1);
    high = high == low ? high + 0.001 : high;
    for (int64_t i = 0; i < f->n; i++) {
        double ramp = ((double)i - low) / (high - low);
        ramp = ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp;
        f->inverse[i] = f->inverse[i] / f->factor * ramp + f->inverse[i] * (1.0 - ramp);
    }
    f->amplitude = hf_real(c, "attention_factor", yarn_amplitude(c, f->factor));
}

/* Phi-3's long contexts: a factor per frequency; the short ones hold within the original context.
 * */
static void longrope(hf c, frequencies *f)
{
    const json_value *list = hf_raw(c, "short_factor");
    hf_raw(c, "long_factor");
    for (int64_t i = 0; list && list->kind == JSON_LIST && i < f->n && i < list->n; i++)
        if (list->items[i].f > 0.0)
            f->inverse[i] /= list->items[i].f;
    double most = hf_real((hf){c.b, NULL}, "max_position_embeddings", f->original);
    double factor = hf_real(c, "factor", most / f->original);
    double amplitude = factor <= 1.0 ? 1.0 : sqrt(1.0 + log(factor) / log(f->original));
    f->amplitude = hf_real(c, "attention_factor", amplitude);
}

static void unscaled(hf c, frequencies *f)
{
    (void)c;
    (void)f;
}

static const struct {
    const char *word;
    void (*apply)(hf c, frequencies *f);
} scalings[] = {
    {"", unscaled},     {"default", unscaled}, {"dynamic", unscaled},  {"linear", linear},
    {"llama3", llama3}, {"yarn", yarn},        {"longrope", longrope}, {"su", longrope},
};

static void scale(nn *b, frequencies *f)
{
    hf c = hf_rope_scaling(b);
    str word = hf_word(c, "rope_type|type", "");
    f->factor = hf_real(c, "factor", 1.0);
    f->original = hf_real((hf){b, NULL}, "original_max_position_embeddings",
                          hf_real((hf){b, NULL}, "max_position_embeddings", 2048.0));
    f->original = hf_real(c, "original_max_position_embeddings", f->original);
    if (f->factor <= 0.0 || f->original <= 1.0)
        nn_fail(b, "the RoPE scaling factor and length must be positive");
    for (size_t i = 0; nn_ok(b) && i < sizeof scalings / sizeof *scalings; i++) {
        if (!str_is(word, scalings[i].word))
            continue;
        scalings[i].apply(c, f);
        return;
    }
    nn_refuse(b, "unknown RoPE scaling '" STR_FMT "'", STR_ARG(word));
}

/* ---- tables ---- */

static nn_t inverse_table(nn *b, const frequencies *f)
{
    return nn_floats_const(b, "inv_freq", (int)f->n, f->inverse);
}

static nn_t places(const hf_text *t)
{
    float *at = nn_ok(t->b) ? ARENA_ARRAY(t->b->scratch, float, (size_t)t->seq) : NULL;
    for (int64_t i = 0; at && i < t->seq; i++)
        at[i] = (float)(t->past + i);
    return nn_table_of(t->b, "positions", IR_FLOAT32, 3, (const int64_t[]){1, t->seq, 1}, at);
}

static nn_t wave(const hf_text *t, const char *op, const char *name, nn_t angles, double amplitude)
{
    nn *b = t->b;
    nn_t x = nn_one(b, op, name, 1, &angles, angles, 0, NULL);
    if (amplitude != 1.0)
        x = nn_scale(b, arena_printf(b->scratch, "%s/scale", name), x, amplitude);
    if (t->batch == 1)
        return x;
    const int64_t dims[] = {t->batch, x.d[1], x.d[2]};
    return nn_expand(b, arena_printf(b->scratch, "%s/expand", name), x, 3, dims);
}

static double theta_of(nn *b, double theta)
{
    double flat = hf_real((hf){b, NULL}, "rope_theta|rotary_emb_base", theta);
    return nn_has(b, "rope_parameters") ? hf_real((hf){b, "rope_parameters"}, "rope_theta", flat)
                                        : flat;
}

hf_rope hf_rope_make(const hf_text *t, int64_t head, int64_t dim, double theta, bool scaled)
{
    nn *b = t->b;
    hf_rope r = {.head = head, .dim = dim};
    frequencies f = {.n = dim / 2, .dim = dim, .amplitude = 1.0};
    f.theta = scaled ? theta_of(b, theta) : theta;
    if (nn_ok(b) && (dim < 2 || dim % 2 || dim > HF_HEADS || dim > head || !(f.theta > 1.0)))
        nn_fail(b, "invalid RoPE over %lld of %lld features", (long long)dim, (long long)head);
    f.inverse = nn_ok(b) ? ARENA_ARRAY(b->scratch, double, (size_t)f.n) : NULL;
    if (!f.inverse)
        return r;
    for (int64_t i = 0; i < f.n; i++)
        f.inverse[i] = pow(f.theta, -2.0 * (double)i / (double)dim);
    nn_push(b, "rotary_emb");
    if (scaled)
        scale(b, &f);
    nn_t angles = nn_mul(b, "angles", places(t), inverse_table(b, &f));
    r.cos = wave(t, "Cos", "cos", angles, f.amplitude);
    r.sin = wave(t, "Sin", "sin", angles, f.amplitude);
    nn_pop(b);
    return r;
}

nn_t hf_rope_turn(nn *b, const char *name, nn_t x, const hf_rope *r)
{
    nn_attr attrs[2];
    int n = 0;
    if (r->interleaved)
        attrs[n++] = NN_INT("interleaved", 1);
    if (r->dim != r->head)
        attrs[n++] = NN_INT("rotary_embedding_dim", r->dim);
    return nn_one(b, "RotaryEmbedding", name, 3, (const nn_t[]){x, r->cos, r->sin}, x, n, attrs);
}
