/* Shared by the files of the history in this room. */
#ifndef API_HISTORY_H
#define API_HISTORY_H

#include <assay/history.h>

#include "store/store.h"

struct assay_store {
    store *s;
};

assay_status api_record_filter(const assay_store *db, const assay_record_filter *given,
                               store_filter *out, assay_error *err);
/* The lines that assay_store_import() reads, of one record. */
assay_status api_record_lines(const assay_record_options *o, str document, sbuf *out,
                              assay_error *err);

#endif
