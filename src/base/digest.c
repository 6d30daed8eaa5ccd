/* See digest.h. */
#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"

enum { BLOCK_BYTES = 1 << 16 };
#define FOLDER_BYTES ((size_t)16 << 20)

static assay_status add_file(sha256 *h, const char *path, assay_error *err)
{
    uint64_t size;
    int fd;
    TRY(file_open_read(path, &fd, &size, err));
    char *block = memory_alloc(BLOCK_BYTES);
    ssize_t n = block ? 1 : 0;
    while (n > 0 || (n < 0 && errno == EINTR)) {
        n = read(fd, block, BLOCK_BYTES);
        if (n > 0)
            sha256_add(h, block, (size_t)n);
    }
    int error = errno;
    free(block);
    close(fd);
    TRY_MEMORY(block, err);
    return n < 0 ? err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot read: %s",
                                  FILE_NAME(path), strerror(error))
                 : ASSAY_OK;
}

static assay_status digest_file(const char *path, digest_hex out, assay_error *err)
{
    sha256 h;
    sha256_begin(&h);
    TRY(add_file(&h, path, err));
    sha256_end(&h, out);
    return ASSAY_OK;
}

static assay_status add_entry(sha256 *h, const char *folder, str name, arena *a, assay_error *err)
{
    digest_hex hex;
    const char *path = arena_printf(a, "%s/" STR_FMT, folder, STR_ARG(name));
    TRY_MEMORY(path, err);
    if (!file_stat(path).is_regular)
        return ASSAY_OK;
    TRY(digest_file(path, hex, err));
    sha256_add(h, name.p, name.n);
    sha256_add(h, "\n", 1);
    sha256_add(h, hex, 64);
    sha256_add(h, "\n", 1);
    return ASSAY_OK;
}

static assay_status digest_folder(const char *path, arena *a, digest_hex out, assay_error *err)
{
    sha256 h;
    str *names;
    uint32_t n;
    sha256_begin(&h);
    TRY(file_list(path, a, &names, &n, err));
    for (uint32_t i = 0; i < n; i++)
        TRY(add_entry(&h, path, names[i], a, err));
    sha256_end(&h, out);
    return ASSAY_OK;
}

assay_status digest_path(const char *path, digest_hex out, assay_error *err)
{
    if (!file_stat(path).is_dir)
        return digest_file(path, out, err);
    arena *a = arena_new(FOLDER_BYTES);
    assay_status s = a ? digest_folder(path, a, out, err) : err_no_memory(err);
    arena_free(a);
    return s;
}

void digest_bytes(const void *p, size_t n, digest_hex out)
{
    sha256 h;
    sha256_begin(&h);
    if (n)
        sha256_add(&h, p, n);
    sha256_end(&h, out);
}

assay_status digest_text(sbuf *text, digest_hex out, assay_error *err)
{
    bool failed = text->failed;
    if (!failed)
        digest_bytes(text->p, text->n, out);
    sbuf_free(text);
    return failed ? err_no_memory(err) : ASSAY_OK;
}
