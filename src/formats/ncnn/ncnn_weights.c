/* The weights of an NCNN model: one after the other in the .bin, in the order of the layers.
 *
 * A tagged weight begins with a word: 0x01306B47 float16, 0x000D4B38 int8, 0x0002C056 float32, 0 float32; any other is a
 * table of 256 floats and one byte for each element. Data ends on a multiple of four bytes.
 */

#include "base/file.h"
#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

enum { TAG_HALF = 0x01306B47, TAG_INT8 = 0x000D4B38, TAG_FLOAT = 0x0002C056, TABLE = 256 * 4 };

static uint32_t read_tag(nc_reader *r)
{
    uint8_t b[4] = {0};
    assay_error ignored = {0};
    if (source_read(r->bin, r->at, b, sizeof b, &ignored) != ASSAY_OK)
        r->lost = true;
    r->at += 4;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Type, bytes and place of the next n elements; IR_UNDEFINED: a table, whose elements are no plain data. */
static ir_dtype next_weight(nc_reader *r, bool tagged, uint64_t n, uint64_t *bytes)
{
    uint32_t tag = tagged ? read_tag(r) : 0;
    ir_dtype t = tag == TAG_HALF                ? IR_FLOAT16
                 : tag == TAG_INT8              ? IR_INT8
                 : tag == TAG_FLOAT || tag == 0 ? IR_FLOAT32
                                                : IR_UNDEFINED;
    *bytes = t == IR_UNDEFINED ? sat_add(n, TABLE) : ir_dtype_bytes(t, n);
    return t;
}

static bool within_bin(const nc_reader *r, uint64_t bytes)
{
    uint64_t size = source_size(r->bin);
    return r->at <= size && bytes <= size - r->at;
}

static void advance(nc_reader *r, uint64_t bytes)
{
    r->at = sat_add(r->at, sat_add(bytes, 3) & ~UINT64_C(3));
}

static ir_id add_constant(nc_op *o, const char *what, ir_tensor *as, uint64_t bytes, bool data)
{
    nc_reader *r = o->r;
    str name = str_printf(r->f.m->arena, STR_FMT ".%s", STR_ARG(o->layer->name), what);
    ir_id id = as && name.p ? foreign_slice(&r->f, name, as, r->at, bytes) : IR_NONE;
    if (id == IR_NONE || data)
        return id;
    ir_tensor *own = arena_copy(r->f.m->arena, ir_value_at(r->f.m, id)->constant, sizeof *own);
    if (!own)
        return IR_NONE;
    own->storage = IR_DATA_NONE;
    ir_value_at(r->f.m, id)->constant = own;
    return id;
}

ir_id nc_weight(nc_op *o, const char *what, bool tagged, int rank, const int64_t *dims)
{
    nc_reader *r = o->r;
    uint64_t n = 1, bytes = 0;
    for (int d = 0; d < rank; d++)
        n = sat_mul(n, dims[d] < 0 ? 0 : (uint64_t)dims[d]);
    if (!o->emit)
        return IR_NONE;
    bool known = r->bin && !r->lost;
    ir_dtype t = known ? next_weight(r, tagged, n, &bytes) : IR_FLOAT32;
    ir_tensor *as = ir_make_tensor_borrowed(r->f.m, STR(""), t == IR_UNDEFINED ? IR_FLOAT32 : t,
                                            rank, dims);
    if (known && !within_bin(r, bytes))
        r->lost = true;
    bool data = known && !r->lost && t != IR_UNDEFINED && t != IR_INT8; /* scales are elsewhere */
    foreign_count(&r->f, n, known ? bytes : sat_mul(n, 4));
    ir_id id = add_constant(o, what, as, bytes, data);
    if (known && !r->lost)
        advance(r, bytes);
    return layer_float_weight(&o->l, id);
}

void nc_skip_floats(nc_op *o, uint64_t n)
{
    if (o->emit)
        advance(o->r, sat_mul(n, 4));
}

/* NAME.bin beside NAME.param or NAME.param.bin. */
assay_status nc_open_bin(nc_reader *r, const char *path)
{
    str stem = path ? str_of(path) : (str){0};
    if (str_ends(stem, ".param.bin"))
        stem.n -= (uint32_t)strlen(".bin");
    if (!path || stem.n < 7 || !str_ends(stem, ".param"))
        return ASSAY_OK;
    char *name = arena_printf(r->f.scratch, "%.*s.bin", (int)stem.n - 6, stem.p);
    return foreign_open_beside(&r->f, name, &r->bin);
}

void nc_check_bin(nc_reader *r)
{
    if (!r->bin) {
        if (r->f.m->stored.tensors)
            notes_add(&r->f.m->notes, "weights-absent", STR(""),
                      "Put the .bin file beside the .param file.",
                      "The .bin file with the weights is missing. Weights are counted as float32.");
        return;
    }
    if (r->lost || r->at != source_size(r->bin))
        notes_add(&r->f.m->notes, "weights-size", STR(""), "Use the .bin file of this .param file.",
                  "The layers take %llu bytes of weights%s, but the .bin file has %llu.",
                  (unsigned long long)r->at, r->lost ? " or more" : "",
                  (unsigned long long)source_size(r->bin));
}
