/* What hand-written console screens share. */
#ifndef REPORT_STUDIES_H
#define REPORT_STUDIES_H

#include "report/report.h"

/* Takes away the empty line that a heading puts before itself: nothing stands above it. */
void report_first_line(sbuf *out, size_t from);

#endif
