/* Prices of machines in USD per hour: what the user gives, else the list price of the device's row, which has a date
 * and a source (data/devices.csv). A list price is one published price on demand, not the lowest; docs/hardware.md. */
#ifndef DEVICE_PRICE_H
#define DEVICE_PRICE_H

#include "device/devices.h"

typedef struct price {
    double per_hour; /* NaN: unknown */
    str basis;       /* "given", or "list price of 2026-08-22 (SOURCE)"; empty: unknown */
} price;

typedef struct price_given {
    str name; /* of machines whose name contains it, whatever the case; empty: of all */
    double per_hour;
    bool used;
} price_given;

typedef struct price_list {
    VEC(price_given) given;
    const device_list *devices; /* rows with list prices, for price_of_name(); NULL: none */
    arena *arena;               /* of the texts */
} price_list;

/* Adds "[NAME=]USD", or several separated by commas or newlines. ASSAY_ERR_USAGE: it is no such list. */
assay_status price_read(price_list *list, str text, assay_error *err);

price price_of_device(price_list *list, const device *d);
/* Of a machine that is called by the id, an alias or the name of a device, or by several names with " · " between. */
price price_of_name(price_list *list, str name);
/* ASSAY_ERR_USAGE: a price was given that no machine asked for so far has. */
assay_status price_check_used(const price_list *list, assay_error *err);

/* USD for a million pieces of work; NaN: the price or the rate is unknown. */
double price_per_million(double per_hour, double per_second);

/* What several prices are: "list prices of 2026-08-03 to 2026-08-22", "given"; `from` and `to` are dates of list prices.
 * Empty: there is none. */
str price_say_all(bool any_given, str from, str to, arena *a);

#endif
