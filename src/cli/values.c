#include "cli/values.h"

#include <stdarg.h>

enum { PATH_BYTES = 128 };

double cli_number(const assay_result *r, const char *path, ...)
{
    char whole[PATH_BYTES];
    va_list ap;
    va_start(ap, path);
    vsnprintf(whole, sizeof whole, path, ap);
    va_end(ap);
    return assay_result_number(r, whole);
}

const char *cli_text(const assay_result *r, const char *path, ...)
{
    char whole[PATH_BYTES];
    va_list ap;
    va_start(ap, path);
    vsnprintf(whole, sizeof whole, path, ap);
    va_end(ap);
    return assay_result_text(r, whole);
}
