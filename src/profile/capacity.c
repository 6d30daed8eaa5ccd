#include "profile/capacity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *capacity_quantile_name(double q, char buf[16])
{
    double percent = round(1e4 * q) / 100;
    if (!(q > 0))
        return memcpy(buf, "mean", sizeof "mean");
    snprintf(buf, 16, "P%.*f",
             percent == floor(percent)             ? 0
             : percent * 10 == floor(percent * 10) ? 1
                                                   : 2,
             percent);
    for (char *p = buf; *p; p++) /* whatever the locale of the host program */
        *p = *p == ',' ? '.' : *p;
    return buf;
}
