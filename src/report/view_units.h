/* Formatting of numbers by the name of their unit. */
#ifndef REPORT_VIEW_UNITS_H
#define REPORT_VIEW_UNITS_H

#include "base/fields.h"
#include "base/sbuf.h"

/* "si", "whole", "bytes", "ms", ... or the unit of a metric; an unknown name is "si". "+si": with its sign. */
void view_put_number(sbuf *b, double v, str unit);
/* "[1.6, 2.3] ms": both ends in the unit of the upper one. Nothing if there is no upper one. */
void view_put_interval(sbuf *b, double low_ms, double high_ms);
/* The name of a field's unit. */
str view_unit_of(field_unit unit);

#endif
