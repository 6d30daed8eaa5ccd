/* --input: data of the user's own. A file that says its shape sets the input's; raw bytes must fit the
 * shape that is known. */
#include <math.h>

#include "analyze/axis_roles.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "formats/image.h"
#include "formats/tensor_file.h"
#include "jobs/given.h"

static input_want *find(job_runnable *x, str name)
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
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "The model has no input '" STR_FMT "'. It has: %s.", STR_ARG(name),
                              sbuf_cstr(&names));
    sbuf_free(&names);
    return s;
}

static void put_dims(sbuf *b, const int64_t *dims, int rank)
{
    for (int i = 0; i < rank; i++)
        sbuf_printf(b, dims[i] < 0 ? "%s?" : "%s%lld", i ? "x" : "", (long long)dims[i]);
    if (!rank)
        sbuf_puts(b, "a single number");
}

static assay_status other_shape(const input_want *w, const tensor_file *t, const char *shown,
                                assay_error *err)
{
    sbuf given = {0}, wanted = {0};
    put_dims(&given, t->dims, t->rank);
    put_dims(&wanted, w->dims, w->rank);
    assay_status s = err_fail(err, ASSAY_ERR_UNSUPPORTED,
                              "'%s' is %s, and input '" STR_FMT
                              "' would be %s; --input-shape or --batch give it another size.",
                              shown, sbuf_cstr(&given), STR_ARG(w->name), sbuf_cstr(&wanted));
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
    if (!same)
        return other_shape(w, t, file_shown(in->path.p, shown), err);
    if (t->dtype != w->dtype)
        return err_fail(err, ASSAY_ERR_USAGE, "'%s' holds %s, input '" STR_FMT "' takes %s.",
                        file_shown(in->path.p, shown), ir_dtype_get(t->dtype)->name,
                        STR_ARG(w->name), ir_dtype_get(w->dtype)->name);
    return ASSAY_OK;
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
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "'%s' is an image; input '" STR_FMT
            "' would have to be float32 or uint8, N x C x H x W or N x H x W x C with 1 "
            "or 3 channels and known sizes (--input-shape).",
            file_shown(in->path.p, shown), STR_ARG(w->name));
    uint64_t n = w->rank == 4 ? (uint64_t)w->dims[0] : 1, size = sat_mul(n, image_bytes(&want));
    TRY(file_read_all(in->path.p, TENSOR_FILE_BYTES, x->work, &bytes, err));
    char *data = size < SIZE_MAX / 2 ? arena_alloc(x->work, (size_t)size) : NULL;
    if (!data)
        return err_no_memory(err);
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
        input_want *w = find(x, in->name);
        tensor_file t;
        if (!w)
            return no_such_input(x, in->name, err);
        if (in->in_memory) {
            TRY(given_take(in, x, w, err));
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
