/* Markdown that obeys nobody: names of models and layers are text, whatever they hold. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "report/report.h"

/* A sentence: what Markdown or HTML would obey is escaped, mentions (@name) reach nobody. */
void md_text(sbuf *out, str s);
/* A name as a code span, in which nothing is obeyed; also within a table. */
void md_code(sbuf *out, str s);

/* Folds with the memory plan in order, when it was asked for in full (report_md_memory.c). */
void report_md_memory(const profile_memory_plan *m, const report_options *o, sbuf *out);

#endif
