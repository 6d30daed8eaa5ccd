/* Markdown that obeys nobody: names of models and layers are text, whatever they hold. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "report/report.h"

/* What Markdown or HTML would obey is escaped, mentions (@name) reach nobody, addresses are no links. */
void md_text(sbuf *out, str s);

#endif
