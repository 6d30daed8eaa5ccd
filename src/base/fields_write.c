/* Described structs to JSON: one writer for every result. See fields.h. */
#include <assert.h>
#include <stdio.h>

#include "base/fields_impl.h"
#include "base/result.h"

static void write_real(json_writer *w, const field *f, double d)
{
    if (f->decimals)
        json_fixed(w, d, f->decimals - 1);
    else
        json_f64(w, d);
}

static void begin_object(json_writer *w, const field *f)
{
    if (f && f->flags & FIELD_FLAT)
        json_flat_object(w);
    else
        json_object(w);
}

static void write_struct(json_writer *w, const field *f, const fields *of, const void *base)
{
    begin_object(w, f);
    fields_write_rows(w, of, base);
    json_end(w);
}

static void write_value(json_writer *w, const field_value *v);

/* Lists of values are written on one line, lists of objects and of sentences are not. */
static bool is_flat_list(const field_value *v)
{
    bool is_bare = v->of && v->of->bare && v->of->rows->kind != FIELD_RESULT;
    return is_bare || (!v->of && !(v->row->flags & FIELD_LINES));
}

static void write_list(json_writer *w, const field_value *v)
{
    bool is_map = v->row->kind == FIELD_MAP;
    bool is_flat = is_flat_list(v);
    if (is_map && is_flat)
        json_flat_object(w);
    else if (is_map)
        json_object(w);
    else if (is_flat)
        json_flat_array(w);
    else
        json_array(w);
    for (uint32_t i = 0; i < v->n; i++) {
        field_value item = fields_item(v, i);
        if (is_map)
            json_key_str(w, item.key);
        write_value(w, &item);
    }
    json_end(w);
}

static void write_value(json_writer *w, const field_value *v)
{
    switch (v->type) {
    case VALUE_NONE:
        json_null(w);
        break;
    case VALUE_BOOL:
        json_bool(w, v->b);
        break;
    case VALUE_WHOLE:
        json_u64(w, v->u);
        break;
    case VALUE_INTEGER:
        json_i64(w, v->i);
        break;
    case VALUE_REAL:
        write_real(w, v->row, v->d);
        break;
    case VALUE_TEXT:
        json_str(w, v->text);
        break;
    case VALUE_OBJECT:
        if (v->result)
            result_write_inside(w, v->result, v->at);
        else
            write_struct(w, v->row, v->of, v->at);
        break;
    case VALUE_LIST:
        write_list(w, v);
        break;
    case VALUE_CODEC:
        v->row->codec->write(w, v->at);
        break;
    }
}

void fields_print(sbuf *b, const field_value *v)
{
    json_writer w;
    if (v->type == VALUE_TEXT)
        sbuf_str(b, v->text);
    else if (v->type == VALUE_CODEC)
        v->row->codec->print(b, v->at);
    else if (v->type == VALUE_BOOL || fields_is_number(v)) {
        json_begin(&w, b, 0);
        write_value(&w, v);
    }
}

static bool is_text(field_kind kind)
{
    return kind == FIELD_STR || kind == FIELD_WORD || kind == FIELD_CHARS;
}

bool fields_is_list(field_kind kind)
{
    return kind == FIELD_LIST || kind == FIELD_MAP || kind == FIELD_F64S || kind == FIELD_U64S ||
           kind == FIELD_U32S || kind == FIELD_STRS;
}

/* A text or list that a row requires is written even if it is empty. */
static void write_empty(json_writer *w, const field *f)
{
    if (is_text(f->kind)) {
        json_cstr(w, "");
        return;
    }
    if (f->kind == FIELD_MAP)
        json_flat_object(w);
    else
        json_flat_array(w);
    json_end(w);
}

/* Whether the value would be 0 in the file; read back, it is not set. */
static bool is_zero_in_file(const field *f, const field_value *v)
{
    char digits[400];
    if (!fields_is_set(v))
        return true;
    if (v->type != VALUE_REAL || !f->decimals || fabs(v->d) >= 1)
        return false;
    snprintf(digits, sizeof digits, "%.*f", f->decimals - 1, v->d);
    return !strpbrk(digits, "123456789");
}

static void write_row(json_writer *w, const field *f, const void *base)
{
    field_value v = fields_value(f, base);
    bool unknown = v.type == VALUE_NONE;
    bool omits = f->absent == FIELD_OMIT || (f->kind == FIELD_OBJECT && f->absent != FIELD_NULL);
    bool is_zero = is_zero_in_file(f, &v);
    if ((unknown && omits) || (is_zero && f->absent == FIELD_OMIT_ZERO))
        return;
    json_key(w, f->key);
    if (is_zero && f->absent == FIELD_NULL_ZERO)
        json_null(w);
    else if (unknown && f->absent == FIELD_REQUIRED &&
             (is_text(f->kind) || fields_is_list(f->kind)))
        write_empty(w, f);
    else
        write_value(w, &v);
}

void fields_write_rows(json_writer *w, const fields *f, const void *base)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const field *row = &f->rows[i];
        field_value spliced = {0};
        if (row->kind == FIELD_SPLICE)
            spliced = fields_value(row, base);
        if (spliced.type == VALUE_OBJECT)
            fields_write_rows(w, spliced.of, spliced.at);
        else if (row->kind != FIELD_SPLICE && fields_is_written(row, base))
            write_row(w, row, base);
    }
}

void fields_write(json_writer *w, const fields *f, const void *base)
{
    write_struct(w, NULL, f, base);
}
