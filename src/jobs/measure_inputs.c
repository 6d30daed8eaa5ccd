/* --input: input data of the user. A file with a shape sets that of the input; raw bytes must match the known shape.
 * Tensors in the caller's memory are converted.
 *
 * Callers in dynamic languages have float64 and int64 by default, while models need float32 and int32. Numbers are
 * converted if nothing but float precision is lost. */
#include <math.h>
#include <stdio.h>

#include "analyze/axis_roles.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "formats/image.h"
#include "formats/tensor_file.h"
#include "jobs/measure.h"

static input_want *find_want(job_runnable *x, str name)
{
    for (uint32_t i = 0; i < x->n_wants; i++)
        if (name.n ? str_eq(x->wants[i].name, name) : !x->wants[i].data)
            return &x->wants[i];
    return NULL;
}

static assay_status no_such_input(const job_runnable *x, str name, assay_error *err)
{
    sbuf names = {0};
    for (uint32_t i = 0; i < x->n_wants && i < 8; i++)
        sbuf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(x->wants[i].name));
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "no input '" STR_FMT "'. The inputs are: %s.",
                              STR_ARG(name), sbuf_cstr(&names));
    sbuf_free(&names);
    return s;
}

static void put_dims(sbuf *b, const int64_t *dims, int rank)
{
    for (int i = 0; i < rank; i++)
        sbuf_printf(b, dims[i] < 0 ? "%s?" : "%s%lld", i ? "x" : "", (long long)dims[i]);
    if (!rank)
        sbuf_puts(b, "a scalar");
}

static assay_status other_shape(const input_want *w, const tensor_file *t, const char *what,
                                assay_error *err)
{
    sbuf given = {0}, wanted = {0};
    put_dims(&given, t->dims, t->rank);
    put_dims(&wanted, w->dims, w->rank);
    assay_status s = err_fail(err, ASSAY_ERR_UNSUPPORTED,
                              "%s: shape %s does not match input '" STR_FMT
                              "' of %s. Change the input with --input-shape or --batch.",
                              what, sbuf_cstr(&given), STR_ARG(w->name), sbuf_cstr(&wanted));
    sbuf_free(&given);
    sbuf_free(&wanted);
    return s;
}

static assay_status check_shape(const input_want *w, const tensor_file *t, const job_input *in,
                                assay_error *err)
{
    char shown[FILE_SHOWN];
    bool same = t->rank == w->rank;
    for (int i = 0; same && i < w->rank; i++)
        same = w->dims[i] < 0 || w->dims[i] == t->dims[i];
    file_shown(in->path.p, shown);
    if (!same)
        return other_shape(w, t, shown, err);
    if (t->dtype != w->dtype)
        return err_fail(err, ASSAY_ERR_USAGE, "%s: element type %s; input '" STR_FMT "' needs %s",
                        shown, ir_dtype_get(t->dtype)->name, STR_ARG(w->name),
                        ir_dtype_get(w->dtype)->name);
    return ASSAY_OK;
}

/* ---- tensors in memory ---- */

static assay_status cast(const input_want *w, const tensor_file *t, uint64_t n, void *out,
                         assay_error *err)
{
    const char *from = ir_dtype_get(t->dtype)->name, *to = ir_dtype_get(w->dtype)->name;
    if (!ir_can_cast(t->dtype, w->dtype))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "the data for input '" STR_FMT
                        "' is %s; the model needs %s. Convert it first.",
                        STR_ARG(w->name), from, to);
    uint64_t done = ir_cast(t->dtype, t->data, n, w->dtype, out);
    return done == n
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE,
                          "element %llu of the data for input '" STR_FMT "' is out of range for %s",
                          (unsigned long long)done, STR_ARG(w->name), to);
}

/* Everything but the batch must be the same; the batch too, unless another was requested. */
static bool fits_shape(const input_want *w, const tensor_file *t, bool other_batch)
{
    if (t->rank != w->rank)
        return false;
    for (int i = 0; i < w->rank; i++) {
        bool batch = i == w->batch_axis && other_batch && t->dims[i] > 0;
        if (w->dims[i] != t->dims[i] && !batch)
            return false;
    }
    return true;
}

static uint64_t elements(const int64_t *dims, int from, int rank)
{
    uint64_t n = 1;
    for (int i = from; i < rank; i++)
        n = sat_mul(n, dims[i] > 0 ? (uint64_t)dims[i] : 0);
    return n;
}

/* Sample k of the batch is sample k modulo the number that was given. What precedes the batch dimension counts rows
 * of samples, each of `have` bytes and to be of `need`. */
static void repeat(const char *from, char *to, uint64_t rows, uint64_t have, uint64_t need)
{
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t at = 0; have && at < need;) {
            uint64_t n = need - at < have ? need - at : have;
            memcpy(to + row * need + at, from + row * have, n);
            at += n;
        }
}

static void *keep_bytes(job_runnable *x, uint64_t size)
{
    arena *own = size < SIZE_MAX / 4 ? arena_new((size_t)size + 4096) : NULL;
    char *data = own ? arena_alloc(own, (size_t)size + 1) : NULL;
    job_kept *k = data ? ARENA_NEW(x->work, job_kept) : NULL;
    if (!k) {
        arena_free(own);
        return NULL;
    }
    *k = (job_kept){.arena = own, .next = x->kept};
    x->kept = k;
    return data;
}

static assay_status fit(const tensor_file *t, job_runnable *x, input_want *w, assay_error *err)
{
    uint64_t n = elements(t->dims, 0, t->rank), m = elements(w->dims, 0, w->rank);
    uint64_t have = ir_dtype_bytes(w->dtype, n), need = ir_dtype_bytes(w->dtype, m);
    uint64_t rows = w->batch_axis > 0 ? elements(w->dims, 0, w->batch_axis) : 1;
    const char *data = t->data;
    if (t->dtype != w->dtype) {
        char *converted = keep_bytes(x, have);
        TRY_MEMORY(converted, err);
        TRY(cast(w, t, n, converted, err));
        data = converted;
    }
    if (have < need || (have > need && rows > 1)) {
        char *all = keep_bytes(x, need);
        TRY_MEMORY(all, err);
        repeat(data, all, rows, rows ? have / rows : 0, rows ? need / rows : 0);
        data = all;
    }
    w->data = data;
    w->data_bytes = need;
    return ASSAY_OK;
}

static assay_status take_given(const job_input *in, job_runnable *x, input_want *w,
                               assay_error *err)
{
    if (!fits_shape(w, &in->given, x->batch > 0))
        return other_shape(w, &in->given, "the data", err);
    return fit(&in->given, x, w, err);
}

/* ---- images ---- */

/* Preparing is done this often, and the shortest time counts: the first pays for cold caches. */
enum { PREPARATIONS = 5 };
#define PREPARATIONS_NS 500000000u

/* As an application would: every sample of the batch is decoded, resized and normalised. */
static assay_status prepare_batch(const job_input *in, str bytes, const image_want *want,
                                  uint64_t n, char *data, assay_error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        image im;
        TRY(image_decode(in->path.p, bytes, &im, err));
        assay_status s = image_put(&im, want, data + i * image_bytes(want), err);
        image_free(&im);
        TRY(s);
    }
    return ASSAY_OK;
}

static assay_status time_preparing(const job_input *in, str bytes, const image_want *want,
                                   uint64_t n, char *data, double *ms, assay_error *err)
{
    uint64_t begin = clock_mono_ns(), best = UINT64_MAX;
    for (int k = 0; k < PREPARATIONS && clock_mono_ns() - begin < PREPARATIONS_NS; k++) {
        uint64_t from = clock_mono_ns();
        TRY(prepare_batch(in, bytes, want, n, data, err));
        uint64_t took = clock_mono_ns() - from;
        best = took < best ? took : best;
    }
    *ms = (double)best / 1e6;
    return ASSAY_OK;
}

static uint32_t known_size(int64_t dim)
{
    return dim > 0 && dim <= UINT32_MAX ? (uint32_t)dim : 0;
}

/* The user says that the input takes an image; a bare C×H×W then has no batch. */
static bool image_wanted(const input_want *w, image_want *out)
{
    axis_input in = {w->name, w->dtype, w->rank, w->dims};
    image_axes at;
    if (!axis_image(&in, AXIS_NO_BATCH, &at) || at.frames >= 0)
        return false;
    *out = (image_want){.dtype = w->dtype,
                        .channels = known_size(w->dims[at.channels]),
                        .height = known_size(w->dims[at.height]),
                        .width = known_size(w->dims[at.width]),
                        .channels_last = at.channels > at.height};
    return image_can_fill(out) && (w->rank == 3 || w->dims[0] >= 1);
}

static assay_status take_image(const job_input *in, job_runnable *x, input_want *w,
                               assay_error *err)
{
    char shown[FILE_SHOWN];
    image_want want;
    str bytes;
    double ms;
    if (!image_wanted(w, &want))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s: an image does not match input '" STR_FMT
                        "'. It needs float32 or uint8, NCHW or NHWC with 1 or 3 channels and known "
                        "sizes (--input-shape).",
                        file_shown(in->path.p, shown), STR_ARG(w->name));
    uint64_t n = w->rank == 4 ? (uint64_t)w->dims[0] : 1, size = sat_mul(n, image_bytes(&want));
    TRY(file_read_limited(in->path.p, LIMIT_TENSOR, x->work, &bytes, err));
    char *data = size < SIZE_MAX / 2 ? arena_alloc(x->work, (size_t)size) : NULL;
    TRY_MEMORY(data, err);
    TRY(time_preparing(in, bytes, &want, n, data, &ms, err));
    w->data = data;
    w->data_bytes = size;
    x->pre_ms = (isnan(x->pre_ms) ? 0 : x->pre_ms) + ms;
    return ASSAY_OK;
}

assay_status job_runnable_inputs(const assay_options *o, job_runnable *x, assay_error *err)
{
    for (uint32_t i = 0; i < o->measure.inputs.n; i++) {
        const job_input *in = &o->measure.inputs.items[i];
        input_want *w = find_want(x, in->name);
        tensor_file t;
        if (!w)
            return no_such_input(x, in->name, err);
        if (in->in_memory) {
            TRY(take_given(in, x, w, err));
            continue;
        }
        if (image_named(in->path.p)) {
            TRY(take_image(in, x, w, err));
            continue;
        }
        TRY(tensor_file_read(in->path.p, x->work, &t, err));
        if (t.rank >= 0)
            TRY(check_shape(w, &t, in, err));
        w->data = t.data;
        w->data_bytes = t.size_bytes;
    }
    return ASSAY_OK;
}
