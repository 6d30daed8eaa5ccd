#include "support/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/verify.h"

ir_model *foreign_model(const char *path)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const format_row *f = format_of_file(path);
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
