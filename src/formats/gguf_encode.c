/* See gguf_encode.h. */
#include "formats/gguf_encode.h"

#include <math.h>
#include <string.h>

#include "formats/gguf.h"
#include "ir/dtype.h"

enum { SMALL = 32, LARGE = 256, PARTS = 8, THIN = 16 };

static void put_u16(uint8_t *out, uint16_t v)
{
    out[0] = (uint8_t)v;
    out[1] = (uint8_t)(v >> 8);
}

/* As the reader of the file will have it. */
static float put_half(uint8_t *out, float v)
{
    uint16_t h = ir_half_of(v);
    put_u16(out, h);
    return (float)ir_load_float(IR_FLOAT16, out);
}

/* To the nearest; v is a small number, and lrintf() would be a call. */
static int bounded(float v, int low, int high)
{
    int i = (int)(v + 256.5f) - 256;
    return i < low ? low : i > high ? high : i;
}

static float inverse(float d)
{
    return d != 0.0f ? 1.0f / d : 0.0f;
}

/* The number farthest from zero, with its sign. */
static float farthest(const float *x, int n)
{
    float low = x[0], high = x[0];
    for (int i = 1; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    return -low > high ? low : high;
}

static void span(const float *x, int n, float *low, float *high)
{
    *low = *high = x[0];
    for (int i = 1; i < n; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

/* ---- plain ---- */

static void encode_f32(const float *x, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put_u16(out + 4 * i, (uint16_t)bits);
        put_u16(out + 4 * i + 2, (uint16_t)(bits >> 16));
    }
}

static void encode_f16(const float *x, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        put_u16(out + 2 * i, ir_half_of(x[i]));
}

static void encode_bf16(const float *x, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        put_u16(out + 2 * i, ir_bfloat_of(x[i]));
}

/* ---- blocks of 32 ---- */

/* Low four bits of the first half beside those of the second. */
static void put_nibbles(uint8_t *out, const uint8_t *q, int half)
{
    for (int i = 0; i < half; i++)
        out[i] = (uint8_t)((q[i] & 15) | (q[i + half] & 15) << 4);
}

/* The fifth bits of 32 numbers. */
static void put_fifth(uint8_t *out, const uint8_t *q)
{
    memset(out, 0, 4);
    for (int i = 0; i < SMALL; i++)
        out[i / 8] = (uint8_t)(out[i / 8] | (q[i] >> 4 & 1) << (i % 8));
}

static void encode_q8_0(const float *x, size_t n, uint8_t *out)
{
    for (size_t b = 0; b < n / SMALL; b++, x += SMALL, out += 34) {
        float by = inverse(put_half(out, fabsf(farthest(x, SMALL)) / 127.0f));
        for (int i = 0; i < SMALL; i++)
            out[2 + i] = (uint8_t)(int8_t)bounded(x[i] * by, -128, 127);
    }
}

/* Whole numbers around `middle`, which is the size of the negative half. */
static void quantise_signed(const float *x, uint8_t *scale, int middle, uint8_t *q)
{
    float by = inverse(put_half(scale, farthest(x, SMALL) / -(float)middle));
    for (int i = 0; i < SMALL; i++)
        q[i] = (uint8_t)bounded(x[i] * by + (float)middle, 0, 2 * middle - 1);
}

static void quantise_spanned(const float *x, uint8_t *scales, int most, uint8_t *q)
{
    float low, high;
    span(x, SMALL, &low, &high);
    float by = inverse(put_half(scales, (high - low) / (float)most));
    float from = put_half(scales + 2, low);
    for (int i = 0; i < SMALL; i++)
        q[i] = (uint8_t)bounded((x[i] - from) * by, 0, most);
}

/* Blocks of 32: scales, the fifth bits if there are any, nibbles. */
static void encode_small(const float *x, size_t n, uint8_t *out, bool spanned, bool five)
{
    uint8_t q[SMALL];
    const int head = spanned ? 4 : 2, fifth = five ? 4 : 0;
    for (size_t b = 0; b < n / SMALL; b++, x += SMALL, out += head + fifth + SMALL / 2) {
        if (spanned)
            quantise_spanned(x, out, five ? 31 : 15, q);
        else
            quantise_signed(x, out, five ? 16 : 8, q);
        if (five)
            put_fifth(out + head, q);
        put_nibbles(out + head + fifth, q, SMALL / 2);
    }
}

static void encode_q4_0(const float *x, size_t n, uint8_t *out)
{
    encode_small(x, n, out, false, false);
}

static void encode_q5_0(const float *x, size_t n, uint8_t *out)
{
    encode_small(x, n, out, false, true);
}

static void encode_q4_1(const float *x, size_t n, uint8_t *out)
{
    encode_small(x, n, out, true, false);
}

static void encode_q5_1(const float *x, size_t n, uint8_t *out)
{
    encode_small(x, n, out, true, true);
}

/* Twice the numbers that the four bits of E2M1 stand for. */
static uint8_t nearest_e2m1(float v)
{
    static const float middles[] = {0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f};
    uint8_t i = 0;
    while (i < 7 && fabsf(v) > middles[i])
        i++;
    return (uint8_t)(i | (v < 0.0f ? 8 : 0));
}

static void encode_mxfp4(const float *x, size_t n, uint8_t *out)
{
    uint8_t q[SMALL];
    for (size_t b = 0; b < n / SMALL; b++, x += SMALL, out += 17) {
        int e = 0;
        float most = fabsf(farthest(x, SMALL));
        if (most > 0.0f)
            (void)frexpf(most, &e); /* most = f * 2^e, f in [0.5, 1) */
        e = most > 0.0f ? e - 1 - 2 + 127 : 0;
        out[0] = (uint8_t)(e < 0 ? 0 : e > 254 ? 254 : e);
        for (int i = 0; i < SMALL; i++)
            q[i] = nearest_e2m1(ldexpf(x[i], 128 - (int)out[0]));
        put_nibbles(out + 1, q, SMALL / 2);
    }
}

/* ---- blocks of 256 ---- */

typedef struct k_block {
    uint8_t scale[PARTS], least[PARTS], q[LARGE];
} k_block;

/* x = d * scale * q - e * least, q from 0 to `most`. */
static void quantise_k(const float *x, uint8_t *head, int most, k_block *k)
{
    float step[PARTS], low[PARTS], high, step_max = 0.0f, low_max = 0.0f;
    for (int p = 0; p < PARTS; p++) {
        span(x + p * SMALL, SMALL, &low[p], &high);
        low[p] = low[p] < 0.0f ? -low[p] : 0.0f;
        step[p] = (high + low[p]) / (float)most;
        step_max = step[p] > step_max ? step[p] : step_max;
        low_max = low[p] > low_max ? low[p] : low_max;
    }
    float d = put_half(head, step_max / 63.0f), e = put_half(head + 2, low_max / 63.0f);
    for (int p = 0; p < PARTS; p++) {
        k->scale[p] = (uint8_t)bounded(step[p] * inverse(d), 0, 63);
        k->least[p] = (uint8_t)bounded(low[p] * inverse(e), 0, 63);
        float by = inverse(d * k->scale[p]), from = e * k->least[p];
        for (int i = p * SMALL; i < (p + 1) * SMALL; i++)
            k->q[i] = (uint8_t)bounded((x[i] + from) * by, 0, most);
    }
}

/* Eight pairs of six bits: the first four whole, the upper two bits of the others above them. */
static void put_scales(uint8_t out[12], const k_block *k)
{
    for (int p = 0; p < 4; p++) {
        out[p] = (uint8_t)(k->scale[p] | (k->scale[p + 4] >> 4) << 6);
        out[p + 4] = (uint8_t)(k->least[p] | (k->least[p + 4] >> 4) << 6);
        out[p + 8] = (uint8_t)((k->scale[p + 4] & 15) | (k->least[p + 4] & 15) << 4);
    }
}

static void encode_q4_k(const float *x, size_t n, uint8_t *out)
{
    k_block k;
    for (size_t b = 0; b < n / LARGE; b++, x += LARGE, out += 144) {
        quantise_k(x, out, 15, &k);
        put_scales(out + 4, &k);
        for (int i = 0; i < LARGE; i += 2 * SMALL)
            put_nibbles(out + 16 + i / 2, k.q + i, SMALL);
    }
}

static void encode_q5_k(const float *x, size_t n, uint8_t *out)
{
    k_block k;
    for (size_t b = 0; b < n / LARGE; b++, x += LARGE, out += 176) {
        uint8_t *fifth = out + 16;
        quantise_k(x, out, 31, &k);
        put_scales(out + 4, &k);
        memset(fifth, 0, SMALL);
        for (int i = 0; i < LARGE; i++)
            fifth[i % SMALL] = (uint8_t)(fifth[i % SMALL] | (k.q[i] >> 4 & 1) << (i / SMALL));
        for (int i = 0; i < LARGE; i += 2 * SMALL)
            put_nibbles(out + 48 + i / 2, k.q + i, SMALL);
    }
}

static void quantise_q6_k(const float *x, uint8_t *scales, uint8_t *head, uint8_t *q)
{
    float far[LARGE / THIN], most = 0.0f;
    for (int p = 0; p < LARGE / THIN; p++) {
        far[p] = farthest(x + p * THIN, THIN) / -32.0f;
        most = fabsf(far[p]) > fabsf(most) ? far[p] : most;
    }
    float d = put_half(head, most / -128.0f);
    for (int p = 0; p < LARGE / THIN; p++) {
        int s = bounded(far[p] * inverse(d), -128, 127);
        float by = inverse(d * (float)s);
        scales[p] = (uint8_t)(int8_t)s;
        for (int i = p * THIN; i < (p + 1) * THIN; i++)
            q[i] = (uint8_t)(bounded(x[i] * by, -32, 31) + 32);
    }
}

static void encode_q6_k(const float *x, size_t n, uint8_t *out)
{
    uint8_t q[LARGE];
    for (size_t b = 0; b < n / LARGE; b++, x += LARGE, out += 210) {
        quantise_q6_k(x, out + 192, out + 208, q);
        for (int half = 0; half < 2; half++) {
            const uint8_t *from = q + 128 * half;
            uint8_t *low = out + 64 * half, *upper = out + 128 + 32 * half;
            put_nibbles(low, from, 64);
            for (int i = 0; i < SMALL; i++)
                upper[i] = (uint8_t)(from[i] >> 4 | from[i + 32] >> 4 << 2 |
                                     from[i + 64] >> 4 << 4 | from[i + 96] >> 4 << 6);
        }
    }
}

static const struct {
    uint32_t type; /* of ggml */
    gguf_encode_fn *encode;
} encoders[] = {
    {0, encode_f32},   {1, encode_f16},   {2, encode_q4_0},  {3, encode_q4_1},
    {6, encode_q5_0},  {7, encode_q5_1},  {8, encode_q8_0},  {12, encode_q4_k},
    {13, encode_q5_k}, {14, encode_q6_k}, {30, encode_bf16}, {39, encode_mxfp4},
};

gguf_encode_fn *gguf_encoder_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (encoders[i].type == type)
            return encoders[i].encode;
    return NULL;
}
