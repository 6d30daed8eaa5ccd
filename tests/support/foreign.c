#include "support/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/verify.h"
#include "support/folder.h"

const format_row *format_found(const char *path)
{
    assay_error err = {0};
    const format_row *f = NULL;
    assert_int_equal(format_of_file(path, &f, &err), ASSAY_OK);
    return f;
}

ir_model *foreign_model(const char *path)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const format_row *f = format_found(path);
    assert_non_null(f);
    assert_int_equal(f->reader, FORMAT_FOREIGN);
    assay_status s = format_read(f, path, FOREIGN_TEST_LIMIT, &m, &err);
    if (s != ASSAY_OK)
        print_message("%s\n", err.message);
    assert_int_equal(s, ASSAY_OK);
    assert_int_equal(ir_verify(m, &err), ASSAY_OK);
    return m;
}

const ir_node *foreign_node_of(const ir_model *m, const char *op, unsigned k)
{
    for (ir_id id = 0; id < m->nodes.n; id++)
        if (str_is(ir_node_at(m, id)->op, op) && k-- == 0)
            return ir_node_at(m, id);
    return NULL;
}

const ir_value *foreign_input_of(const ir_model *m, const ir_node *n, uint32_t slot)
{
    assert_non_null(n);
    assert_true(slot < n->n_inputs);
    return ir_value_at(m, n->inputs[slot]);
}

bool foreign_has_note(const ir_model *m, const char *code)
{
    for (uint32_t i = 0; i < m->notes.list.n; i++)
        if (strcmp(m->notes.list.items[i].code, code) == 0)
            return true;
    return false;
}

bool foreign_declares(const ir_value *v, int rank, const int64_t *dims)
{
    if (v->declared.rank != rank)
        return false;
    for (int d = 0; d < rank; d++)
        if (v->declared.dims[d].value != dims[d])
            return false;
    return true;
}

uint8_t *foreign_load(const char *path, size_t *n)
{
    source *src;
    assay_error err = {0};
    assert_int_equal(source_open(path, &src, &err), ASSAY_OK);
    *n = (size_t)source_size(src);
    uint8_t *p = malloc(*n + 1);
    assert_non_null(p);
    assert_int_equal(source_read(src, 0, p, *n, &err), ASSAY_OK);
    source_close(src);
    return p;
}

static void try_bytes(const uint8_t *p, size_t n, foreign_read_fn *read)
{
    const format_row row = {.reader = FORMAT_FOREIGN, .read = read};
    assay_error err = {0}, verdict = {0};
    ir_model *m = NULL;
    if (format_read_bytes(&row, p, n, FOREIGN_TEST_LIMIT, &m, &err) != ASSAY_OK) {
        assert_null(m);
        assert_int_not_equal(err.code, ASSAY_OK);
        assert_true(err.message[0] != '\0');
        return;
    }
    ir_verify(m, &verdict);
    ir_model_free(m);
}

void foreign_survives(const char *path, foreign_read_fn *read)
{
    static const uint8_t masks[] = {0xff, 0x80, 0x01};
    size_t n;
    uint8_t *p = foreign_load(path, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof masks; k++) {
            p[i] ^= masks[k];
            try_bytes(p, n, read);
            p[i] ^= masks[k];
        }
    for (size_t i = 0; i < n; i += 3)
        try_bytes(p, i, read);
    free(p);
}

/* ---- archives of 100 MB ---- */

static uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_word_at(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* The entry of that name ends `big` bytes later, in a hole before the directory of the archive. */
static void enlarge(const char *from, const char *entry, size_t big, const char *to)
{
    size_t n, room = strlen(entry);
    uint8_t *p = foreign_load(from, &n);
    uint8_t *end = p + n - 22; /* without a comment */
    assert_memory_equal(end, "PK\5\6", 4);
    uint8_t *wide = n > 98 && memcmp(end - 20, "PK\6\7", 4) == 0 ? end - 76 : NULL;
    size_t directory = wide ? word_at(wide + 48) : word_at(end + 16);
    bool found = false;
    for (uint8_t *e = p + directory; memcmp(e, "PK\1\2", 4) == 0;) {
        size_t name = e[28] + 256u * e[29], more = e[30] + 256u * e[31] + e[32] + 256u * e[33];
        if (name >= room && memcmp(e + 46 + name - room, entry, room) == 0) {
            put_word_at(e + 20, word_at(e + 20) + big, 4);
            put_word_at(e + 24, word_at(e + 24) + big, 4);
            found = true;
        }
        e += 46 + name + more;
    }
    assert_true(found);
    put_word_at(end + 16, directory + big, 4);
    if (wide) {
        put_word_at(wide + 48, directory + big, 8);
        put_word_at(end - 20 + 8, word_at(end - 20 + 8) + big, 8);
    }
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, directory, f), directory);
    assert_int_equal(fseek(f, (long)(directory + big), SEEK_SET), 0);
    assert_int_equal(fwrite(p + directory, 1, n - directory, f), n - directory);
    fclose(f);
    free(p);
}

void foreign_reads_little(const char *from, const char *entry, foreign_read_fn *read)
{
    enum { BIG = 100 << 20 };
    const char *path = in_test_folder("big.zip");
    assay_error err = {0};
    source *src;
    ir_model *m = NULL;
    enlarge(from, entry, BIG, path);
    assert_int_equal(source_open(path, &src, &err), ASSAY_OK);
    assert_int_equal(read(src, path, FOREIGN_TEST_LIMIT, &m, &err), ASSAY_OK);
    assert_true(source_size(src) > BIG);
    assert_true(source_bytes_read(src) <= BIG / 50);
    ir_model_free(m);
}
