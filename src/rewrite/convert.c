#include "rewrite/convert.h"

#include <math.h>

#include "ir/build.h"
#include "ir/made.h"

enum { CHUNK = 2048 }; /* elements in hand */

typedef struct converted {
    ir_maker maker;
    conversion c;
    uint64_t rows, cols; /* of a source that is turned */
} converted;

/* ---- single numbers ---- */

static int8_t to_steps(float v, float scale, int limit)
{
    float q = nearbyintf(v / scale);
    float most = (float)limit;
    if (!(q == q))
        return 0;
    return (int8_t)(q > most ? most : q < -most ? -most : q);
}

/* ---- runs of numbers ---- */

static void put_half(const uint16_t h, uint8_t *p)
{
    p[0] = (uint8_t)h;
    p[1] = (uint8_t)(h >> 8);
}

static void put_run(const conversion *c, const float *in, uint64_t first, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        float scale = c->scale ? c->scale[(first + i) / c->inner % c->channels] : 1.0f;
        if (c->to == IR_FLOAT16)
            put_half(ir_half_of(in[i]), out + 2 * i);
        else if (c->to == IR_BFLOAT16)
            put_half(ir_bfloat_of(in[i]), out + 2 * i);
        else if (c->to == IR_INT8)
            out[i] = (uint8_t)to_steps(in[i], scale, c->limit);
        else
            memcpy(out + 4 * i, &(float){in[i] * scale}, sizeof(float));
    }
}

static assay_status get_turned(const converted *x, const ir_reader *r, uint64_t first, size_t n,
                               float *out, assay_error *err)
{
    const uint8_t *all;
    TRY(ir_read_whole(r, x->c.source, &all, err));
    for (size_t i = 0; i < n; i++) { /* [cols, rows] of [rows, cols] */
        uint64_t row = (first + i) % x->rows, col = (first + i) / x->rows;
        memcpy(&out[i], all + (row * x->cols + col) * sizeof *out, sizeof *out);
    }
    return ASSAY_OK;
}

static assay_status convert_bytes(void *ctx, const ir_reader *r, uint64_t from, size_t n, void *buf,
                                  assay_error *err)
{
    const converted *x = ctx;
    unsigned width = ir_dtype_get(x->c.to)->bits / 8u;
    uint64_t first = from / width;
    size_t left = n / width;
    uint8_t *out = buf;
    float in[CHUNK];
    while (left > 0) {
        size_t some = left < CHUNK ? left : CHUNK;
        if (x->c.transpose)
            TRY(get_turned(x, r, first, some, in, err));
        else
            TRY(ir_read_part(r, x->c.source, first * sizeof *in, some * sizeof *in, in, err));
        put_run(&x->c, in, first, some, out);
        out += some * width;
        first += some;
        left -= some;
    }
    return ASSAY_OK;
}

/* ---- tensors ---- */

ir_tensor *convert_tensor(ir_model *m, str name, const conversion *c)
{
    const ir_tensor *s = c->source;
    int64_t turned[2] = {s->rank == 2 ? s->dims[1] : 0, s->rank == 2 ? s->dims[0] : 0};
    ir_tensor *t = ir_make_tensor(m, name, c->to, s->rank, c->transpose ? turned : s->dims);
    converted *x = ARENA_NEW(m->arena, converted);
    if (!t || !x || s->storage == IR_DATA_NONE)
        return x ? t : NULL;
    x->c = *c;
    x->rows = (uint64_t)turned[1];
    x->cols = (uint64_t)turned[0];
    x->maker = (ir_maker){.ctx = x, .make = convert_bytes};
    ir_set_maker(t, &x->maker);
    return t;
}

typedef void each_fn(void *ctx, uint64_t first, size_t n, const float *in);

static assay_status each_run(const ir_model *m, const ir_tensor *t, each_fn *each, void *ctx,
                             assay_error *err)
{
    float in[CHUNK];
    for (uint64_t first = 0; first < t->n_elems;) {
        uint64_t left = t->n_elems - first;
        size_t some = left < CHUNK ? (size_t)left : CHUNK;
        TRY(ir_read_part(&m->reader, t, first * sizeof *in, some * sizeof *in, in, err));
        each(ctx, first, some, in);
        first += some;
    }
    return ASSAY_OK;
}

typedef struct peaks {
    uint64_t channels, inner;
    float *out;
} peaks;

static void note_peaks(void *ctx, uint64_t first, size_t n, const float *in)
{
    const peaks *p = ctx;
    for (size_t i = 0; i < n; i++) {
        float a = fabsf(in[i]), *peak = &p->out[(first + i) / p->inner % p->channels];
        if (a > *peak && isfinite(a))
            *peak = a;
    }
}

assay_status convert_peaks(const ir_model *m, const ir_tensor *t, uint64_t channels, uint64_t inner,
                           float *out, assay_error *err)
{
    peaks p = {.channels = channels, .inner = inner, .out = out};
    memset(out, 0, (size_t)channels * sizeof *out);
    return t->storage == IR_DATA_NONE ? ASSAY_OK : each_run(m, t, note_peaks, &p, err);
}

static void note_floats(void *ctx, uint64_t first, size_t n, const float *in)
{
    memcpy((float *)ctx + first, in, n * sizeof *in);
}

assay_status convert_floats(const ir_model *m, const ir_tensor *t, float *out, assay_error *err)
{
    return each_run(m, t, note_floats, out, err);
}
