/* The HTML page of web/ with embedded results: one file that needs no network. Reports of one profile, of several,
 * and the dashboard use the same page, which shows the embedded documents. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/error.h"
#include "base/sbuf.h"

typedef struct page_how {
    bool dashboard;  /* talks to the server that it came from; else it may not talk to anybody */
    bool no_graphs;  /* without charts */
    bool no_details; /* without tables of layers and the like */
} page_how;

/* Whether the page was there when this library was built. */
bool report_page_exists(void);
/* Licences of what the page is made of; "" when it does not exist. */
const char *report_page_licenses(void);
/* The list of components of this build (tools/sbom). */
const char *report_sbom(void);
/* `documents` are texts of JSON, from 0 to any number, of any schema of ours. ASSAY_ERR_UNSUPPORTED when the
 * page does not exist. */
assay_status report_page(const str *documents, size_t n, const page_how *how, sbuf *out,
                         assay_error *err);

#endif
