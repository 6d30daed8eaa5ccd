/* See price.h. */
#include "device/price.h"

#include <math.h>

#include "base/amount.h"

enum { PRICES_MOST = 256 };
#define PRICE_MOST 1e6 /* USD per hour: more is a typing error */

static const price unknown_price = {.per_hour = NAN, .basis = {"", 0}};

/* ---- reading ---- */

static assay_status read_one(price_list *list, str text, assay_error *err)
{
    price_given p = {0};
    str amount = text, name = str_cut(&amount, '=');
    if (name.n == text.n) /* no name */
        amount = text;
    else
        p.name = str_copy(list->arena, name);
    if ((name.n < text.n && !name.n) || !amount_number(amount, &p.per_hour) || p.per_hour < 0 ||
        p.per_hour > PRICE_MOST)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "a price must be [NAME=]USD-PER-HOUR such as epyc=0.42, got '%.*s'",
                        (int)(text.n < 60 ? text.n : 60), text.p ? text.p : "");
    if (list->given.n >= PRICES_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "more than %d prices", PRICES_MOST);
    return VEC_ADD(list->arena, &list->given, p) ? ASSAY_OK : err_no_memory(err);
}

assay_status price_read(price_list *list, str text, assay_error *err)
{
    for (str lines = text, line; str_split(&lines, '\n', &line);)
        for (str rest = line, one; str_split(&rest, ',', &one);)
            TRY(read_one(list, one, err));
    return ASSAY_OK;
}

/* ---- finding ---- */

static price_given *find_given(price_list *list, str name)
{
    price_given *of_all = NULL;
    for (uint32_t i = 0; i < list->given.n; i++) {
        price_given *g = &list->given.items[i];
        if (g->name.n && str_holds_any_case(name, g->name))
            return g;
        of_all = !of_all && !g->name.n ? g : of_all;
    }
    return of_all;
}

static price as_given(price_given *g)
{
    g->used = true;
    return (price){g->per_hour, STR("given")};
}

static price as_listed(const price_list *list, const device *d)
{
    if (!d || !(d->price_usd > 0))
        return unknown_price;
    if (!d->price_date.n) /* of a file of the user's */
        return (price){d->price_usd, STR("given")};
    return (price){d->price_usd, str_printf(list->arena, "list price of " STR_FMT " (" STR_FMT ")",
                                            STR_ARG(d->price_date), STR_ARG(d->price_source))};
}

price price_of_device(price_list *list, const device *d)
{
    price_given *g = find_given(list, d->id);
    g = g && g->name.n ? g : find_given(list, d->name);
    return g ? as_given(g) : as_listed(list, d);
}

price price_of_name(price_list *list, str name)
{
    static const char between[] = " \xc2\xb7 ";
    price_given *g = find_given(list, name);
    if (g)
        return as_given(g);
    while (name.n && list->devices) {
        const char *end = memmem(name.p, name.n, between, sizeof between - 1);
        str part = {name.p, end ? (uint32_t)(end - name.p) : name.n};
        price p = as_listed(list, devices_called(list->devices, part));
        if (p.basis.n)
            return p;
        uint32_t gone = end ? part.n + (uint32_t)sizeof between - 1 : name.n;
        name = (str){name.p + gone, name.n - gone};
    }
    return unknown_price;
}

assay_status price_check_used(const price_list *list, assay_error *err)
{
    for (uint32_t i = 0; i < list->given.n; i++)
        if (!list->given.items[i].used)
            return err_fail(
                err, ASSAY_ERR_USAGE,
                "no machine of this question is called '%.*s', or another price "
                "before it applies. Correct --price.",
                (int)(list->given.items[i].name.n < 60 ? list->given.items[i].name.n : 60),
                list->given.items[i].name.p ? list->given.items[i].name.p : "");
    return ASSAY_OK;
}

double price_per_million(double per_hour, double per_second)
{
    return per_second > 0 ? per_hour / 3600 / per_second * 1e6 : NAN;
}

/* ---- saying ---- */

str price_say_all(bool any_given, str from, str to, arena *a)
{
    bool several = from.n && !str_eq(from, to);
    if (!from.n)
        return any_given ? STR("given") : STR("");
    return str_printf(a, "%slist price%s of " STR_FMT "%s" STR_FMT, any_given ? "given, else " : "",
                      several ? "s" : "", STR_ARG(from), several ? " to " : "",
                      STR_ARG(several ? to : STR("")));
}
