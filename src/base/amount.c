/* See amount.h. */
#include "base/amount.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* How a row is matched. */
enum {
    TAIL = 1, /* a name may follow: "Gsamples/s", "MFLOPs" */
    CASE = 2  /* mJ and MJ are not the same */
};

typedef struct unit_row {
    amount_unit unit;
    const char *name;
    double factor;
    unsigned how;
} unit_row;

static const unit_row units[] = {
    {AMOUNT_MS, "ns", 1e-6, 0},       {AMOUNT_MS, "us", 1e-3, 0},
    {AMOUNT_MS, "µs", 1e-3, 0},       {AMOUNT_MS, "ms", 1, 0},
    {AMOUNT_MS, "s", 1e3, 0},         {AMOUNT_MS, "min", 6e4, 0},
    {AMOUNT_MS, "h", 3.6e6, 0},       {AMOUNT_BYTES, "B", 1, 0},
    {AMOUNT_BYTES, "KB", 1e3, 0},     {AMOUNT_BYTES, "MB", 1e6, 0},
    {AMOUNT_BYTES, "GB", 1e9, 0},     {AMOUNT_BYTES, "TB", 1e12, 0},
    {AMOUNT_BYTES, "KiB", 0x1p10, 0}, {AMOUNT_BYTES, "MiB", 0x1p20, 0},
    {AMOUNT_BYTES, "GiB", 0x1p30, 0}, {AMOUNT_BYTES, "TiB", 0x1p40, 0},
    {AMOUNT_BYTES, "K", 0x1p10, 0},   {AMOUNT_BYTES, "M", 0x1p20, 0},
    {AMOUNT_BYTES, "G", 0x1p30, 0},   {AMOUNT_BYTES, "T", 0x1p40, 0},
    {AMOUNT_COUNT, "", 1, TAIL},      {AMOUNT_COUNT, "K", 1e3, TAIL},
    {AMOUNT_COUNT, "M", 1e6, TAIL},   {AMOUNT_COUNT, "G", 1e9, TAIL},
    {AMOUNT_COUNT, "B", 1e9, TAIL},   {AMOUNT_COUNT, "T", 1e12, TAIL},
    {AMOUNT_COUNT, "P", 1e15, TAIL},  {AMOUNT_RATE, "", 1, TAIL},
    {AMOUNT_RATE, "k", 1e3, TAIL},    {AMOUNT_RATE, "M", 1e6, TAIL},
    {AMOUNT_RATE, "G", 1e9, TAIL},    {AMOUNT_RATE, "T", 1e12, TAIL},
    {AMOUNT_PERCENT, "%", 1, 0},      {AMOUNT_SHARE, "%", 0.01, 0},
    {AMOUNT_PLAIN, "x", 1, 0},        {AMOUNT_PLAIN, "J", 1, 0},
    {AMOUNT_JOULE, "J", 1, CASE},     {AMOUNT_JOULE, "mJ", 1e-3, CASE},
    {AMOUNT_WATT, "W", 1, CASE},      {AMOUNT_WATT, "kW", 1e3, CASE},
};

/* The number at the beginning of text, which moves past it. */
static bool leading_number(str *text, double *out)
{
    return text->n && text->p[0] != '-' && str_take_f64(text, out);
}

bool amount_number(str text, double *out)
{
    return leading_number(&text, out) && !text.n;
}

/* What is counted, or per which time. */
static bool is_tail(amount_unit unit, str s)
{
    static const char *const counts[] = {"",       "flops",      "flop", "macs", "mac",
                                         "params", "parameters", "ops",  NULL};
    static const char *const rates[] = {"",           "/s",    "samples/s", "images/s", "tokens/s",
                                        "requests/s", "rps",   "qps",       "fps",      "ips",
                                        "flop/s",     "flops", "items/s",   NULL};
    for (const char *const *t = unit == AMOUNT_COUNT ? counts : rates; *t; t++)
        if (s.n == strlen(*t) && (s.n == 0 || strncasecmp(s.p, *t, s.n) == 0))
            return true;
    return false;
}

static bool unit_fits(const unit_row *u, str rest)
{
    size_t n = strlen(u->name);
    if (rest.n < n ||
        (u->how & CASE ? strncmp(rest.p, u->name, n) : strncasecmp(rest.p, u->name, n)) != 0)
        return false;
    return u->how & TAIL ? is_tail(u->unit, (str){rest.p + n, rest.n - (uint32_t)n}) : rest.n == n;
}

bool amount_parse(amount_unit unit, str text, double *out)
{
    double v;
    if (!leading_number(&text, &v))
        return false;
    text = str_trim(text);
    *out = v;
    if (!text.n)
        return true;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit && unit_fits(&units[i], text)) {
            *out = v * units[i].factor;
            return isfinite(*out);
        }
    return false;
}

bool amount_seconds(str text, double *out)
{
    double ms;
    if (amount_number(text, out))
        return true;
    if (!amount_parse(AMOUNT_MS, text, &ms))
        return false;
    *out = ms / 1000;
    return true;
}

bool amount_parse_whole(amount_unit unit, str text, uint64_t *out)
{
    double v;
    if (!amount_parse(unit, text, &v) || !(v < 0x1p63))
        return false;
    *out = (uint64_t)llround(v);
    return true;
}
