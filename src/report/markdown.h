/* Markdown with all names of models and layers escaped. */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "report/report.h"

/* Escapes Markdown and HTML; mentions (@name) and addresses do not become links. */
void md_text(sbuf *out, str s);

#endif
