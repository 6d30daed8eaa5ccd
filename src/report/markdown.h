/* Markdown with all names of models and layers escaped. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "report/report.h"

/* What Markdown or HTML would obey is escaped, mentions (@name) reach nobody, addresses are no links. */
void md_text(sbuf *out, str s);

#endif
