/* Resizing and normalising: see image.h. An output row is made at a time: the source rows that it covers are
 * summed into one row of floats, which is then filtered across. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/num.h"
#include "formats/image.h"

enum { SIDE_MOST = 16384 };

static bool is_side(uint32_t size)
{
    return size >= 1 && size <= SIDE_MOST;
}

bool image_can_fill(const image_want *w)
{
    return (w->dtype == IR_FLOAT32 || w->dtype == IR_UINT8) &&
           (w->channels == 1 || w->channels == 3) && is_side(w->height) && is_side(w->width);
}

uint64_t image_bytes(const image_want *w)
{
    return ir_dtype_bytes(w->dtype, (uint64_t)w->channels * w->height * w->width);
}

/* The source pixels behind one of the result. */
typedef struct span {
    uint32_t first, n;
    double centre, support;
} span;

static span span_of(uint32_t at, uint32_t to, uint32_t from)
{
    double scale = (double)from / to, support = scale > 1 ? scale : 1;
    double centre = (at + 0.5) * scale;
    double low = floor(centre - support + 0.5), high = floor(centre + support + 0.5);
    uint32_t first = low > 0 ? (uint32_t)low : 0;
    uint32_t end = high < from ? (uint32_t)high : from;
    if (first >= from)
        first = from - 1;
    return (span){first, end > first ? end - first : 1, centre, support};
}

static float weight_at(const span *s, uint32_t i)
{
    double x = fabs((s->first + i + 0.5 - s->centre) / s->support);
    return (float)(x < 1 ? 1 - x : 0);
}

static void sum_rows(const image *im, const span *s, float *row)
{
    size_t n = (size_t)im->width * 3;
    float total = 0;
    for (size_t k = 0; k < n; k++)
        row[k] = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint8_t *from = im->rgb + (size_t)(s->first + i) * n;
        float w = weight_at(s, i);
        total += w;
        for (size_t k = 0; k < n; k++)
            row[k] += w * (float)from[k];
    }
    for (size_t k = 0; total > 0 && k < n; k++)
        row[k] /= total;
}

static void sum_across(const float *row, const span *s, float pixel[3])
{
    float total = 0, sum[3] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        float w = weight_at(s, i);
        total += w;
        for (int c = 0; c < 3; c++)
            sum[c] += w * row[((size_t)s->first + i) * 3 + (size_t)c];
    }
    for (int c = 0; c < 3; c++)
        pixel[c] = total > 0 ? sum[c] / total : row[(size_t)s->first * 3 + (size_t)c];
}

static void put_value(const image_want *w, uint32_t y, uint32_t x, uint32_t c, float v, void *data)
{
    static const float mean[] = {0.485F, 0.456F, 0.406F}, deviation[] = {0.229F, 0.224F, 0.225F};
    size_t plane = (size_t)w->height * w->width, at = (size_t)y * w->width + x;
    size_t i = w->channels_last ? at * w->channels + c : (size_t)c * plane + at;
    float m = w->channels == 1 ? 0.449F : mean[c], d = w->channels == 1 ? 0.226F : deviation[c];
    if (w->dtype == IR_UINT8)
        ((uint8_t *)data)[i] = (uint8_t)(v + 0.5F);
    else
        ((float *)data)[i] = (v / 255 - m) / d;
}

static void put_pixel(const image_want *w, uint32_t y, uint32_t x, const float p[3], void *data)
{
    if (w->channels == 1)
        put_value(w, y, x, 0, 0.299F * p[0] + 0.587F * p[1] + 0.114F * p[2], data);
    else
        for (uint32_t c = 0; c < 3; c++)
            put_value(w, y, x, c, p[c], data);
}

assay_status image_put(const image *im, const image_want *w, void *data, assay_error *err)
{
    float *row = memory_alloc(sizeof *row * 3 * im->width);
    span *across = memory_alloc(sizeof *across * w->width);
    bool ready = row && across;
    for (uint32_t x = 0; ready && x < w->width; x++)
        across[x] = span_of(x, w->width, im->width);
    for (uint32_t y = 0; ready && y < w->height; y++) {
        const span down = span_of(y, w->height, im->height);
        float pixel[3];
        sum_rows(im, &down, row);
        for (uint32_t x = 0; x < w->width; x++) {
            sum_across(row, &across[x], pixel);
            put_pixel(w, y, x, pixel, data);
        }
    }
    free(row);
    free(across);
    return ready ? ASSAY_OK : err_no_memory(err);
}
