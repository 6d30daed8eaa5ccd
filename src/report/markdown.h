/* Markdown that obeys nobody: names of models and layers are text, whatever they hold. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "report/report.h"

/* A sentence: what Markdown or HTML would obey is escaped, mentions (@name) reach nobody. */
void md_text(sbuf *out, str s);
/* A name as a code span, in which nothing is obeyed; also within a table. */
void md_code(sbuf *out, str s);

#endif
