/* A model of several files: the parts of a multipart/form-data body (RFC 7578), each with a file name. They go to the
 * worker as a packet: for each file a head, its path and its bytes. libmicrohttpd takes the body apart; nothing in a
 * file is looked at here. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/serve.h"

typedef struct part_head {
    uint64_t n_path, n; /* bytes of the path with its NUL, and of the file */
} part_head;

bool parts_are(const request *r)
{
    static const char type[] = "multipart/form-data";
    const char *given = MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, "Content-Type");
    return given && strncasecmp(given, type, sizeof type - 1) == 0;
}

/* ---- taking the body apart ---- */

typedef struct packing {
    char *bytes;
    size_t n, cap;
    size_t head; /* where that of the last file is */
    int files;
    char first[PARTS_PATH + 1];
    const char *why; /* it is refused; NULL: it is not */
} packing;

static bool put_bytes(packing *p, const void *bytes, size_t n)
{
    if (n > p->cap - p->n)
        return false;
    if (n)
        memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
    return true;
}

static const char *begin_file(packing *p, const char *path)
{
    if (!path || !*path)
        return "each part of the body must have a file name";
    if (strlen(path) > PARTS_PATH)
        return "the name of a file is too long";
    if (p->files == PARTS_MOST)
        return "a model can have at most 256 files";
    const part_head head = {.n_path = strlen(path) + 1};
    if (!p->files++)
        strcpy(p->first, path);
    p->head = p->n;
    return put_bytes(p, &head, sizeof head) && put_bytes(p, path, (size_t)head.n_path)
               ? NULL
               : "the body is not valid multipart/form-data";
}

static const char *add_piece(packing *p, const char *piece, size_t n)
{
    part_head head;
    if (!put_bytes(p, piece, n))
        return "the body is not valid multipart/form-data";
    memcpy(&head, p->bytes + p->head, sizeof head);
    head.n += n;
    memcpy(p->bytes + p->head, &head, sizeof head);
    return NULL;
}

static enum MHD_Result take_piece(void *ctx, enum MHD_ValueKind kind, const char *key,
                                  const char *path, const char *type, const char *encoding,
                                  const char *piece, uint64_t at, size_t n)
{
    packing *p = ctx;
    (void)kind;
    (void)key;
    (void)type;
    (void)encoding;
    if (!p->why && at == 0)
        p->why = begin_file(p, path);
    if (!p->why)
        p->why = add_piece(p, piece, n);
    return p->why ? MHD_NO : MHD_YES;
}

/* A packet is smaller than the body: each part has more than a head's bytes around it. */
static void pack(request *r, packing *p)
{
    enum { BUFFER = 64 << 10 };
    struct MHD_PostProcessor *reader = MHD_create_post_processor(r->mhd, BUFFER, take_piece, p);
    bool whole = reader && MHD_post_process(reader, r->body, (size_t)r->n_body) == MHD_YES;
    if (reader && MHD_destroy_post_processor(reader) != MHD_YES)
        whole = false;
    if (!p->why && (!whole || !p->files))
        p->why = "the body is not valid multipart/form-data";
}

bool parts_take(request *r, upload *out, reply *refusal)
{
    packing p = {.cap = (size_t)r->n_body};
    if (!budget_take(&r->s->bodies, p.cap, 0) || !(p.bytes = malloc(p.cap ? p.cap : 1))) {
        reply_error(refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
                    "too many request bodies in memory. Try again later.");
        refusal->retry = true;
        return false;
    }
    pack(r, &p);
    if (p.why) {
        reply_error(refusal, MHD_HTTP_BAD_REQUEST, p.why);
        budget_give(&r->s->bodies, p.cap);
        free(p.bytes);
        return false;
    }
    *out = (upload){.bytes = p.bytes, .n = p.n, .files = true};
    strcpy(out->name, p.first);
    return true;
}

void parts_free(request *r, const upload *u)
{
    budget_give(&r->s->bodies, r->n_body);
    free((void *)(uintptr_t)u->bytes);
}

/* ---- in the worker ---- */

size_t parts_read(const char *bytes, size_t n, assay_memory_file files[PARTS_MOST])
{
    size_t count = 0, at = 0;
    part_head head;
    while (count < PARTS_MOST && n - at >= sizeof head) {
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        if (!head.n_path || head.n_path > n - at || head.n > n - at - head.n_path)
            return 0;
        files[count++] = (assay_memory_file){bytes + at, bytes + at + head.n_path, (size_t)head.n};
        at += (size_t)(head.n_path + head.n);
    }
    return at == n ? count : 0;
}
