/* Files that are written completely or not at all, and reading of small files. */
#include <stdlib.h>

#include "api/api.h"
#include "base/file.h"
#include "base/memory.h"

struct assay_output {
    file_out *file;
};

assay_status assay_output_open(const char *path, assay_output **out, assay_error *err)
{
    api_begin(err);
    *out = memory_zeroed(1, sizeof **out);
    TRY_MEMORY(*out, err);
    assay_status s = file_out_open(path, &(*out)->file, err);
    if (s != ASSAY_OK) {
        free(*out);
        *out = NULL;
    }
    return s;
}

assay_status assay_output_write(assay_output *output, const void *p, size_t n, assay_error *err)
{
    api_begin(err);
    TRY(file_out_write(output->file, p, n, err));
    return file_out_flush(output->file, err);
}

assay_status assay_output_commit(assay_output *output, const void *p, size_t n, assay_error *err)
{
    api_begin(err);
    assay_status s = file_out_write(output->file, p, n, err);
    if (s == ASSAY_OK)
        s = file_out_commit(output->file, err);
    else
        file_out_abandon(output->file);
    free(output);
    return s;
}

assay_status assay_output_commit_all(assay_output *const *outputs, size_t n, assay_error *err)
{
    api_begin(err);
    file_out **files = memory_zeroed(n ? n : 1, sizeof *files);
    for (size_t i = 0; files && i < n; i++) {
        files[i] = outputs[i]->file;
        outputs[i]->file = NULL;
    }
    assay_status s = files ? file_out_commit_all(files, n, err) : err_no_memory(err);
    for (size_t i = 0; i < n; i++)
        assay_output_abandon(outputs[i]);
    free(files);
    return s;
}

void assay_output_abandon(assay_output *output)
{
    if (!output)
        return;
    file_out_abandon(output->file);
    free(output);
}

assay_status assay_output_append(const char *path, const void *p, size_t n, assay_error *err)
{
    api_begin(err);
    return file_append(path, p, n, err);
}

assay_status assay_file_read(const char *path, size_t max_bytes, char **out, size_t *n,
                             assay_error *err)
{
    sbuf text = {0};
    str whole = {0};
    api_begin(err);
    *out = NULL;
    *n = 0;
    arena *a = arena_new(max_bytes + ((size_t)1 << 16));
    assay_status s = a ? file_read_all(path, max_bytes, a, &whole, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        sbuf_str(&text, whole);
    arena_free(a);
    return api_hand_text(s, &text, out, n, err);
}
