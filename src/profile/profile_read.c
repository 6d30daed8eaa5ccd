/* Documents of one model; see profile_read.h. The fields are in profile_fields.c. */
#include "profile/profile_read.h"

#include "profile/profile_fields.h"

assay_status profile_read(str text, const char *shown, size_t limit_bytes, profile **out,
                          assay_error *err)
{
    arena *a = arena_new(limit_bytes);
    profile *p = a ? ARENA_NEW(a, profile) : NULL;
    *out = NULL;
    assay_status s = p ? result_read_as(&profile_kind, text, shown, a, p, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = p;
    else
        arena_free(a);
    return s;
}

void profile_write_json(const profile *p, sbuf *out, int indent)
{
    result_write(&profile_kind, p, indent, out);
}
