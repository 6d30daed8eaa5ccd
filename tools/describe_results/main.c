/* describe_results SOURCE TARGET: writes below TARGET what is derived from the field tables of results:
 * docs/schema/KIND-VERSION.schema.json, docs/json.md (whose prose is SOURCE/docs/json.md's) and web/src/types.ts; and
 * data/zoo_names.csv from the built-in models.
 * Both folders are the root of a checkout, or TARGET is an empty one.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "describe.h"
#include "profile/result_kinds.h"

enum { KINDS_MAX = 64, PATH_SIZE = 1024 };

static assay_status write_file(const char *root, const char *name, sbuf *b, assay_error *err)
{
    char path[PATH_SIZE];
    file_out *out = NULL;
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (b->failed)
        return err_no_memory(err);
    TRY(file_out_open(path, &out, err));
    assay_status status = file_out_write(out, b->p, b->n, err);
    if (status == ASSAY_OK)
        return file_out_commit(out, err);
    file_out_abandon(out);
    return status;
}

/* "assay.profile" is "profile". */
static const char *short_name(const result_kind *kind)
{
    const char *dot = strchr(kind->schema, '.');
    return dot ? dot + 1 : kind->schema;
}

/* The kinds from `first` on that have its schema. */
static uint32_t kinds_of_schema(uint32_t first, const result_kind **out)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < result_kinds_n && n < KINDS_MAX; i++)
        if (strcmp(result_kinds[i]->schema, result_kinds[first]->schema) == 0)
            out[n++] = result_kinds[i];
    return n;
}

static bool is_first_of_schema(uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(result_kinds[i]->schema, result_kinds[index]->schema) == 0)
            return false;
    return true;
}

static assay_status write_schema(const char *target, uint32_t first, assay_error *err)
{
    const result_kind *kinds[KINDS_MAX];
    char name[PATH_SIZE];
    sbuf b = {0};
    put_schema(&b, kinds, kinds_of_schema(first, kinds));
    snprintf(name, sizeof name, "docs/schema/%s-%u.schema.json", short_name(kinds[0]),
             kinds[0]->version);
    assay_status status = write_file(target, name, &b, err);
    sbuf_free(&b);
    return status;
}

static assay_status write_schemas(const char *target, assay_error *err)
{
    for (uint32_t i = 0; i < result_kinds_n; i++)
        if (is_first_of_schema(i))
            TRY(write_schema(target, i, err));
    return ASSAY_OK;
}

static assay_status write_page(const char *source, const char *target, arena *a, assay_error *err)
{
    char path[PATH_SIZE];
    str page;
    sbuf b = {0};
    snprintf(path, sizeof path, "%s/docs/json.md", source);
    TRY(file_read_all(path, 1 << 24, a, &page, err));
    put_markdown(&b, page, result_kinds, result_kinds_n);
    assay_status status = write_file(target, "docs/json.md", &b, err);
    sbuf_free(&b);
    return status;
}

static assay_status write_types(const char *target, assay_error *err)
{
    sbuf b = {0};
    put_typescript(&b, result_kinds, result_kinds_n);
    assay_status status = write_file(target, "web/src/types.ts", &b, err);
    sbuf_free(&b);
    return status;
}

static assay_status write_names(const char *target, assay_error *err)
{
    sbuf b = {0};
    assay_status status = put_zoo_names(&b, err);
    if (status == ASSAY_OK)
        status = write_file(target, "data/zoo_names.csv", &b, err);
    sbuf_free(&b);
    return status;
}

/* A name stands for one struct in all kinds: types.ts has them all. */
static assay_status check_names(assay_error *err)
{
    definitions d = {.n = 0};
    for (uint32_t i = 0; i < result_kinds_n; i++)
        define_kind(&d, result_kinds[i]);
    if (d.clash)
        return err_fail(err, ASSAY_ERR_USAGE, "two structs have the name '%s'", d.clash);
    return ASSAY_OK;
}

static assay_status write_all(const char *source, const char *target, assay_error *err)
{
    arena *a = arena_new(SIZE_MAX);
    if (!a)
        return err_no_memory(err);
    assay_status status = check_names(err);
    if (status == ASSAY_OK)
        status = write_schemas(target, err);
    if (status == ASSAY_OK)
        status = write_page(source, target, a, err);
    if (status == ASSAY_OK)
        status = write_types(target, err);
    if (status == ASSAY_OK)
        status = write_names(target, err);
    arena_free(a);
    return status;
}

int main(int argc, char **argv)
{
    assay_error err = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: describe_results SOURCE TARGET\n");
        return 2;
    }
    if (write_all(argv[1], argv[2], &err) == ASSAY_OK)
        return 0;
    fprintf(stderr, "describe_results: %s\n", err.message);
    return 1;
}
