/* The pieces of conclusions: names, numbers with units, changes. Numbers are rounded as everywhere (base/text.h). */
#include "profile/conclusion.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum { NAME_BYTES = 96, PATH_BYTES = 40 };

/* Of a long path, the file: a sentence is to be repeated. */
static str short_name(str name)
{
    const char *slash = name.n > PATH_BYTES ? memrchr(name.p, '/', name.n - 1) : NULL;
    return slash ? (str){slash + 1, (uint32_t)(name.p + name.n - slash - 1)} : name;
}

void conclude_name(sbuf *b, str name)
{
    char safe[NAME_BYTES];
    text_safe_into(safe, sizeof safe, short_name(name));
    sbuf_puts(b, name.n ? safe : "the model");
}

void conclude_percent(sbuf *b, double percent)
{
    double a = fabs(percent);
    text_fixed(b, percent, a > 0 && a < 1 ? 2 : a > 99 && a < 100 ? 2 : 1);
    sbuf_puts(b, " %");
}

void conclude_ratio(sbuf *b, double ratio)
{
    text_fixed(b, ratio, ratio >= 100 ? 0 : 2);
    sbuf_puts(b, "×");
}

void conclude_rate(sbuf *b, double v)
{
    if (v < 1000)
        text_fixed(b, v, v < 10 ? 2 : 1);
    else
        text_thousands(b, v < 1.8e19 ? (uint64_t)round(v) : UINT64_MAX);
}

void conclude_flops(sbuf *b, double flops)
{
    text_si_unit(b, flops, -1, "FLOPs");
}

void conclude_flop_rate(sbuf *b, double per_second)
{
    text_si_unit(b, per_second, -1, "FLOP/s");
}

void conclude_count(sbuf *b, uint64_t n, const char *noun)
{
    text_thousands(b, n);
    sbuf_printf(b, " %s%s", noun, TEXT_S(n));
}

void conclude_metric(sbuf *b, double v, metric_unit unit)
{
    if (unit == METRIC_MS && v > 0)
        text_ms(b, v);
    else if (unit == METRIC_BYTES && v >= 0 && v < 1.8e19)
        text_bytes(b, (uint64_t)round(v));
    else if (unit == METRIC_PERCENT)
        conclude_percent(b, v);
    else if (unit == METRIC_RATE)
        conclude_rate(b, v), sbuf_puts(b, "/s");
    else
        text_si(b, v, -1);
}

void conclude_change(sbuf *b, double ratio, const char *more, const char *less)
{
    double percent = 100 * (ratio - 1);
    if (fabs(percent) < 0.005) {
        sbuf_puts(b, "the same");
    } else if (ratio >= 2 || ratio < 0.5) {
        conclude_ratio(b, ratio);
    } else {
        conclude_percent(b, fabs(percent));
        sbuf_printf(b, " %s", percent > 0 ? more : less);
    }
}
