/* Parses a number with a unit: "100ms", "2GB", "30M", "1000samples/s", "50%", "75W". The only table of suffixes;
 * limits of check and capacity, sizes of options, --solve of scale and --goal of map use it. */
#ifndef BASE_AMOUNT_H
#define BASE_AMOUNT_H

#include "base/str.h"

typedef enum amount_unit {
    AMOUNT_MS,      /* milliseconds */
    AMOUNT_BYTES,   /* GB is 10^9; GiB and G are 2^30 */
    AMOUNT_COUNT,   /* pieces: parameters, FLOPs; G and B are 10^9 */
    AMOUNT_RATE,    /* per second */
    AMOUNT_PERCENT, /* 100 is the whole */
    AMOUNT_PLAIN,   /* a number */
    AMOUNT_SHARE,   /* 1 is the whole; "1%" is 0.01 */
    AMOUNT_JOULE,
    AMOUNT_WATT
} amount_unit;

/* The amount in the unit above; a bare number is in it already. False when it is no such value: negative, of another
 * unit, or not finite. Case makes no difference but for joules and watts. */
bool amount_parse(amount_unit unit, str text, double *out);
/* The same to the nearest whole number; false also at 2^63 and above. */
bool amount_parse_whole(amount_unit unit, str text, uint64_t *out);
/* Seconds of a duration: "4s", "500ms", "2min", "1h"; a bare number is seconds. */
bool amount_seconds(str text, double *out);
/* "12", "0.5", "1e9": digits, one dot, an exponent, in every locale. False when that is not all of it. */
bool amount_number(str text, double *out);

#endif
