/* Formats numbers by unit. web/src/format.ts uses the same rules, so numbers are equal on the page, on the console,
 * in Markdown and in notebooks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/console.h"
#include "report/view_units.h"

/* 0.0012 -> "1.2e-3". A double below 0.01 never lies half way between two such numbers. */
static void put_small(sbuf *b, double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.1e", v);
    const char *e = strchr(text, 'e');
    bool negative = text[0] == '-';
    sbuf_printf(b, "%s%c.%ce%d", negative ? "-" : "", text[negative], e[-1], atoi(e + 1));
}

static void put_si(sbuf *b, double v)
{
    double a = fabs(v);
    if (a > 0 && a < 0.01)
        put_small(b, v);
    else
        text_si(b, v, -1);
}

static uint64_t whole(double v)
{
    double a = round(fabs(v));
    return a < 1.8e19 ? (uint64_t)a : UINT64_MAX;
}

static void put_sign(sbuf *b, double v)
{
    if (v < 0 && whole(v))
        sbuf_puts(b, "-");
}

static void put_whole(sbuf *b, double v)
{
    put_sign(b, v);
    text_thousands(b, whole(v));
}

static void put_bytes(sbuf *b, double v)
{
    put_sign(b, v);
    text_bytes(b, whole(v));
}

static void put_ms(sbuf *b, double v)
{
    if (v == 0)
        sbuf_puts(b, "0 ms");
    else if (v > 0)
        text_ms(b, v);
    else {
        sbuf_puts(b, "-");
        text_ms(b, -v);
    }
}

static void put_s(sbuf *b, double v)
{
    put_ms(b, 1000 * v);
}

static void put_us(sbuf *b, double v)
{
    put_ms(b, v / 1000);
}

static void put_mib(sbuf *b, double v)
{
    put_bytes(b, v * 1048576);
}

static void put_ratio(sbuf *b, double v)
{
    report_fixed(b, v, v >= 100 ? 0 : 2);
    sbuf_puts(b, "×");
}

static void put_intensity(sbuf *b, double v)
{
    report_fixed(b, v, v >= 100 ? 0 : v >= 10 ? 1 : 2);
}

static void put_rate(sbuf *b, double v)
{
    if (v < 1000)
        report_fixed(b, v, v < 10 ? 2 : 1);
    else
        put_whole(b, v);
}

/* What a ratio changes: 1.05 -> "+5.00 %", 0.5 -> "−50.0 %". */
static void put_change(sbuf *b, double v)
{
    double percent = 100 * (v - 1);
    sbuf_puts(b, percent >= 0.005 ? "+" : percent <= -0.005 ? "−" : "");
    report_fixed(b, fabs(percent), v == 1 ? 0 : fabs(percent) < 9.995 ? 2 : 1);
    sbuf_puts(b, " %");
}

/* A probability; of what is exact there is none. */
static void put_chance(sbuf *b, double v)
{
    if (v <= 0) {
        sbuf_puts(b, "exact");
        return;
    }
    sbuf_puts(b, v <= 0.001 ? "≤ " : "");
    report_fixed(b, 100 * v, 1);
    sbuf_puts(b, " %");
}

static void put_si2(sbuf *b, double v)
{
    text_si(b, v, 2);
}

static void put_macs(sbuf *b, double v)
{
    text_si_unit(b, v, 2, "MACs");
}

static void put_flops(sbuf *b, double v)
{
    text_si_unit(b, v, 2, "FLOPs");
}

static void put_joule(sbuf *b, double j)
{
    report_fixed(b, j < 1 ? j * 1000 : j, j < 0.01 || j >= 1 ? 2 : 1);
    sbuf_puts(b, j < 1 ? " mJ" : " J");
}

/* Three digits of what may be tiny: errors of outputs. */
static void put_digits(sbuf *b, double v)
{
    sbuf_printf(b, "%.3g", v);
}

/* Work of small models is not "0.00". */
static void put_small2(sbuf *b, double v)
{
    if (v > 0 && v < 0.1)
        put_digits(b, v);
    else
        report_fixed(b, v, 2);
}

static void put_bandwidth(sbuf *b, double v)
{
    text_si_unit(b, v, -1, "B/s");
}

static void put_cosine(sbuf *b, double v)
{
    sbuf_printf(b, "%.6f", v);
}

/* 50 -> "50", 16.125 -> "16.13" */
static void put_short(sbuf *b, double v)
{
    report_fixed(b, v, v == floor(v) ? 0 : 2);
}

static void put_digits_percent(sbuf *b, double v)
{
    sbuf_printf(b, "%.3g %%", 100 * v);
}

static void put_rate_per_s(sbuf *b, double v)
{
    put_rate(b, v);
    sbuf_puts(b, " /s");
}

static void put_per_s(sbuf *b, double v)
{
    put_si(b, v);
    sbuf_puts(b, "/s");
}

/* Cents, and more decimals of what is less. */
static void put_usd(sbuf *b, double v)
{
    report_fixed(b, v, v >= 1 || v == 0 ? 2 : v >= 0.01 ? 4 : 6);
}

static const struct unit {
    const char *name;
    void (*put)(sbuf *b,
                double v); /* NULL: `times` as large, with decimals and what stands behind */
    double times;
    int decimals;
    const char *behind;
} units[] = {
    {.name = "si", .put = put_si},
    {.name = "whole", .put = put_whole},
    {.name = "bytes", .put = put_bytes},
    {.name = "ms", .put = put_ms},
    {.name = "us", .put = put_us},
    {.name = "s", .put = put_s},
    {.name = "mib", .put = put_mib},
    {.name = "percent", .times = 1, .decimals = 1, .behind = " %"},
    {.name = "percent0", .times = 1, .decimals = 0, .behind = " %"},
    {.name = "percent2", .times = 1, .decimals = 2, .behind = " %"},
    {.name = "share", .times = 100, .decimals = 0, .behind = " %"},
    {.name = "share1", .times = 100, .decimals = 1, .behind = " %"},
    {.name = "ratio", .put = put_ratio},
    {.name = "intensity", .put = put_intensity},
    {.name = "rate", .put = put_rate},
    {.name = "less", .times = -1, .decimals = 1, .behind = " %"},
    {.name = "si2", .put = put_si2},
    {.name = "macs", .put = put_macs},
    {.name = "flops", .put = put_flops},
    {.name = "joule", .put = put_joule},
    {.name = "digits", .put = put_digits},
    {.name = "digits%", .put = put_digits_percent},
    {.name = "cosine", .put = put_cosine},
    {.name = "small2", .put = put_small2},
    {.name = "B/s", .put = put_bandwidth},
    {.name = "short", .put = put_short},
    {.name = "fixed0", .times = 1, .decimals = 0, .behind = ""},
    {.name = "watt", .times = 1, .decimals = 0, .behind = " W"},
    {.name = "fixed1", .times = 1, .decimals = 1, .behind = ""},
    {.name = "fixed2", .times = 1, .decimals = 2, .behind = ""},
    {.name = "fixed3", .times = 1, .decimals = 3, .behind = ""},
    {.name = "usd", .put = put_usd},
    {.name = "per-s", .put = put_per_s},
    {.name = "change", .put = put_change},
    {.name = "chance", .put = put_chance},
    /* units of metrics, as documents name them */
    {.name = "count", .put = put_si},
    {.name = "1/s", .put = put_rate_per_s},
    {.name = "number", .times = 1, .decimals = 2, .behind = ""},
};

/* 1234.5 -> "1,234.50" */
static void put_grouped(sbuf *b, double v, int decimals)
{
    sbuf plain = {0};
    report_fixed(&plain, v, decimals);
    const char *text = sbuf_cstr(&plain);
    size_t from = text[0] == '-', digits = strspn(text + from, "0123456789");
    for (size_t i = 0; i < plain.n; i++) {
        if (i > from && i < from + digits && (from + digits - i) % 3 == 0)
            sbuf_putc(b, ',');
        sbuf_putc(b, text[i]);
    }
    sbuf_free(&plain);
}

static void put_in(sbuf *b, double v, const struct unit *u)
{
    if (u->put) {
        u->put(b, v);
        return;
    }
    if (*u->behind)
        report_fixed(b, v * u->times, u->decimals);
    else
        put_grouped(b, v * u->times, u->decimals);
    sbuf_puts(b, u->behind);
}

/* What is written as 0 has no sign. */
static void put_signed(sbuf *b, double v, str unit)
{
    sbuf size = {0};
    view_put_number(&size, fabs(v), unit);
    bool is_zero = !strpbrk(sbuf_cstr(&size), "123456789");
    sbuf_puts(b, is_zero ? "" : v > 0 ? "+" : "−");
    sbuf_puts(b, sbuf_cstr(&size));
    sbuf_free(&size);
}

void view_put_number(sbuf *b, double v, str unit)
{
    if (unit.n && unit.p[0] == '+') {
        put_signed(b, v, (str){unit.p + 1, unit.n - 1});
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(unit, units[i].name)) {
            put_in(b, v, &units[i]);
            return;
        }
    put_si(b, v);
}

str view_unit_of(field_unit unit)
{
    static const char *const names[] = {
        [UNIT_NONE] = "number",
        [UNIT_COUNT] = "whole",
        [UNIT_AMOUNT] = "si",
        [UNIT_FLOPS] = "si",
        [UNIT_MACS] = "si",
        [UNIT_BYTES] = "bytes",
        [UNIT_MIB] = "mib",
        [UNIT_MS] = "ms",
        [UNIT_US] = "us",
        [UNIT_S] = "s",
        [UNIT_PERCENT] = "percent",
        [UNIT_RATIO] = "ratio",
        [UNIT_PER_SECOND] = "rate",
        [UNIT_FLOPS_PER_S] = "per-s",
        [UNIT_GFLOPS_PER_S] = "fixed1",
        [UNIT_BYTES_PER_S] = "per-s",
        [UNIT_GBYTES_PER_S] = "fixed1",
        [UNIT_INTENSITY] = "intensity",
        [UNIT_MHZ] = "whole",
        [UNIT_WATT] = "fixed1",
        [UNIT_JOULE] = "fixed2",
        [UNIT_CELSIUS] = "whole",
        [UNIT_USD] = "usd",
    };
    return str_of(unit < sizeof names / sizeof *names ? names[unit] : "number");
}

void view_put_interval(sbuf *b, double low_ms, double high_ms)
{
    if (!(high_ms > 0))
        return;
    double unit = high_ms < 1 ? 1e-3 : high_ms < 1000 ? 1 : 1000, high = high_ms / unit;
    int digits = high < 10 ? 2 : high < 100 ? 1 : 0;
    sbuf_printf(b, "[%.*f, %.*f] %s", digits, low_ms / unit, digits, high,
                unit < 1   ? "µs"
                : unit > 1 ? "s"
                           : "ms");
}
