/* Formatting of numbers by the name of their unit. */
#ifndef REPORT_VIEW_UNITS_H
#define REPORT_VIEW_UNITS_H

#include "base/fields.h"
#include "base/sbuf.h"

/* "si", "whole", "bytes", "ms", ... or the unit of a metric; an unknown name is "si". "+si": with its sign. */
void view_put_number(sbuf *b, double v, str unit);
/* The name of a field's unit. */
str view_unit_of(field_unit unit);

#endif
