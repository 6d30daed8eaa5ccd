/* NCNN models: the lines of the .param, the sizes of inputs, layers in order; see ncnn.h. */
#include "formats/ncnn/ncnn.h"

#include <string.h>

#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

/* ---- parameters of a layer ---- */

static const nc_key *find_key(const nc_op *o, int64_t id)
{
    for (uint32_t i = 0; i < o->layer->n_keys; i++)
        if (o->layer->keys[i].id == id)
            return &o->layer->keys[i];
    return NULL;
}

double nc_float(const nc_op *o, int64_t key, double def)
{
    const nc_key *k = find_key(o, key);
    double v;
    return k && !k->list && str_to_f64(k->text, &v) ? v : def;
}

int64_t nc_int(const nc_op *o, int64_t key, int64_t def)
{
    const nc_key *k = find_key(o, key);
    int64_t v;
    if (k && !k->list && str_to_i64(k->text, &v))
        return v;
    double f = nc_float(o, key, (double)def);
    return f > -1e15 && f < 1e15 ? (int64_t)f : def;
}

int nc_floats(const nc_op *o, int64_t key, double *list)
{
    const nc_key *k = find_key(o, key);
    str rest = k ? k->text : (str){0};
    int n = 0;
    if (!k)
        return -1;
    for (str item; n < NC_LIST && str_split(&rest, ',', &item);)
        if (!str_to_f64(str_trim(item), &list[n++]))
            return -1;
    return n;
}

str nc_text(const nc_op *o, int64_t key)
{
    const nc_key *k = find_key(o, key);
    return k ? k->text : (str){0};
}

int nc_ints(const nc_op *o, int64_t key, int64_t *list)
{
    double floats[NC_LIST];
    int n = nc_floats(o, key, floats);
    for (int i = 0; i < n; i++)
        list[i] = floats[i] > -1e15 && floats[i] < 1e15 ? (int64_t)floats[i] : 0;
    return n;
}

/* ---- lines ---- */

typedef struct nc_lines {
    cursor c;
    char *line;
    uint32_t n;
    uint64_t at; /* of the line in the file */
} nc_lines;

/* The next line without its end; false: there is none. */
static bool next_line(nc_lines *l)
{
    l->n = 0;
    l->at = l->c.pos;
    if (!cursor_more(&l->c))
        return false;
    while (cursor_more(&l->c)) {
        char c = (char)cursor_u8(&l->c);
        if (c == '\n')
            break;
        if (l->n >= NC_MAX_LINE) {
            cursor_fail(&l->c, "a line is too long");
            return false;
        }
        if (c != '\r')
            l->line[l->n++] = c;
    }
    return !l->c.failed;
}

/* The next word of a line; empty at its end. */
static str next_word(str *rest)
{
    while (rest->n && (rest->p[0] == ' ' || rest->p[0] == '\t'))
        *rest = (str){rest->p + 1, rest->n - 1};
    uint32_t n = 0;
    while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
        n++;
    str word = {rest->p, n};
    *rest = (str){rest->p + n, rest->n - n};
    return word;
}

static assay_status bad_line(nc_reader *r, const nc_lines *l, const char *what)
{
    return err_fail_at(r->f.err, ASSAY_ERR_MALFORMED, l->at, "%s: '%.*s'", what,
                       (int)(l->n < 80 ? l->n : 80), l->line);
}

/* ---- blobs ---- */

static uint32_t blob_of(nc_reader *r, str name)
{
    uint32_t at = map_get(&r->by_name, name);
    if (at != MAP_NONE)
        return at;
    str own = str_copy(r->f.m->arena, name);
    if (!own.p || !map_put(&r->by_name, own, r->blobs.n) ||
        !VEC_ADD(r->f.scratch, &r->blobs, (nc_blob){.name = own, .value = IR_NONE}))
        return MAP_NONE;
    return r->blobs.n - 1;
}

static assay_status read_blobs(nc_reader *r, nc_lines *l, str *rest, nc_layer *to)
{
    uint32_t *blobs = ARENA_ARRAY(r->f.scratch, uint32_t, (size_t)to->n_in + to->n_out + 1);
    TRY_MEMORY(blobs, r->f.err);
    to->in = blobs;
    to->out = blobs + to->n_in;
    for (uint32_t i = 0; i < to->n_in + to->n_out; i++) {
        str word = next_word(rest);
        if (word.n == 0 || word.n > FOREIGN_MAX_NAME)
            return bad_line(r, l, "a layer names fewer blobs than it declares");
        blobs[i] = blob_of(r, word);
        if (blobs[i] == MAP_NONE)
            return err_no_memory(r->f.err);
        nc_blob *b = &r->blobs.items[blobs[i]];
        if (i < to->n_in ? !b->made : b->made)
            return bad_line(r, l,
                            i < to->n_in ? "a blob is read before a layer writes it"
                                         : "two layers write the same blob");
        b->made |= i >= to->n_in;
        b->used |= i < to->n_in;
    }
    return ASSAY_OK;
}

/* "0=24", "-23301=2,4,4" (a list of 2), "0=1,2" (a list). */
static bool read_key(nc_reader *r, str word, nc_key *k)
{
    str value = word;
    str name = str_cut(&value, '=');
    if (!str_to_i64(name, &k->id) || value.n == 0)
        return false;
    if (k->id <= -23300) {
        k->id = -k->id - 23300;
        k->list = true;
        str_cut(&value, ','); /* the length */
    } else {
        k->list = memchr(value.p, ',', value.n) != NULL;
    }
    k->text = str_copy(r->f.scratch, value);
    return k->text.p != NULL;
}

static assay_status read_keys(nc_reader *r, nc_lines *l, str rest, nc_layer *to)
{
    nc_key keys[NC_MAX_KEYS];
    for (str word; (word = next_word(&rest)).n;) {
        if (to->n_keys >= NC_MAX_KEYS || !read_key(r, word, &keys[to->n_keys]))
            return bad_line(r, l, "a parameter is not KEY=VALUE");
        to->n_keys++;
    }
    to->keys = arena_copy(r->f.scratch, keys, to->n_keys * sizeof *keys);
    return to->keys || !to->n_keys ? ASSAY_OK : err_no_memory(r->f.err);
}

static assay_status refuse_pnnx(nc_reader *r)
{
    return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                    "unsupported format: a PNNX graph, not an NCNN model. Use the .ncnn.param file "
                    "that pnnx wrote beside it.");
}

static assay_status read_layer(nc_reader *r, nc_lines *l)
{
    str rest = {l->line, l->n};
    nc_layer to = {.type = next_word(&rest), .name = next_word(&rest)};
    str n_in = next_word(&rest), n_out = next_word(&rest);
    uint64_t in, out;
    if (str_starts(to.type, "pnnx.") || str_starts(to.type, "nn."))
        return refuse_pnnx(r);
    if (!str_to_u64(n_in, &in) || !str_to_u64(n_out, &out) || in > NC_MAX_PORTS ||
        out > NC_MAX_PORTS || to.name.n > FOREIGN_MAX_NAME)
        return bad_line(r, l, "a layer has an invalid number of inputs or outputs");
    to.n_in = (uint32_t)in;
    to.n_out = (uint32_t)out;
    to.type = str_copy(r->f.m->arena, to.type);
    to.name = str_copy(r->f.m->arena, to.name);
    to.row = nc_row_of(to.type);
    TRY_MEMORY(to.type.p && to.name.p, r->f.err);
    TRY(read_blobs(r, l, &rest, &to));
    TRY(read_keys(r, l, rest, &to));
    if (r->layers.n >= FOREIGN_MAX_NODES)
        return bad_line(r, l, "too many layers");
    return VEC_ADD(r->f.scratch, &r->layers, to) ? ASSAY_OK : err_no_memory(r->f.err);
}

static assay_status read_lines(nc_reader *r, source *src)
{
    nc_lines l = {.c = cursor_at(src, 0, source_size(src), r->f.err),
                  .line = arena_alloc(r->f.scratch, NC_MAX_LINE)};
    uint64_t layers = 0;
    TRY_MEMORY(l.line, r->f.err);
    if (!next_line(&l) || !str_is(str_trim((str){l.line, l.n}), "7767517"))
        return l.c.failed ? r->f.err->code : bad_line(r, &l, "the first line is not 7767517");
    str counts = next_line(&l) ? (str){l.line, l.n} : STR("");
    if (!str_to_u64(next_word(&counts), &layers) || next_word(&counts).n == 0)
        return bad_line(r, &l, "the second line has no counts of layers and blobs");
    while (next_line(&l))
        if (str_trim((str){l.line, l.n}).n)
            TRY(read_layer(r, &l));
    if (l.c.failed)
        return r->f.err->code;
    if (layers != r->layers.n)
        notes_add(&r->f.m->notes, "layer-count", STR(""), NULL,
                  "The file declares %llu layers but has %u.", (unsigned long long)layers,
                  r->layers.n);
    return r->layers.n ? ASSAY_OK
                       : err_fail(r->f.err, ASSAY_ERR_MALFORMED, "the model has no layers");
}

static assay_status read_binary(nc_reader *r)
{
    str text;
    source *lines = NULL;
    TRY(nc_text_of_binary(r, &text));
    TRY(source_memory(text.p, text.n, &lines, r->f.err));
    assay_status s = read_lines(r, lines);
    source_close(lines);
    return s;
}

static assay_status read_param(nc_reader *r)
{
    static const char binary[] = {(char)0xdd, (char)0x85, 0x76, 0};
    char head[sizeof binary] = {0};
    if (source_size(r->f.src) > sizeof head)
        TRY(source_read(r->f.src, 0, head, sizeof head, r->f.err));
    return memcmp(head, binary, sizeof head) == 0 ? read_binary(r) : read_lines(r, r->f.src);
}

/* ---- a run over the layers: for sizes alone, or for nodes ---- */

/* Whether all inputs are without sizes. */
static bool is_open(const nc_op *o)
{
    bool open = true;
    for (uint32_t i = 0; i < o->layer->n_in; i++)
        open &= o->r->blobs.items[o->layer->in[i]].open;
    return open;
}

static void open_op(nc_op *o, nc_shape *in, nc_shape *out)
{
    nc_reader *r = o->r;
    for (uint32_t i = 0; i < o->layer->n_in; i++)
        in[i] = r->blobs.items[o->layer->in[i]].shape;
    memset(out, 0, ((size_t)o->layer->n_out + 1) * sizeof *out);
    o->in = in;
    o->out = out;
    if (o->layer->row && o->layer->n_in >= o->layer->row->least_in && o->layer->n_out)
        if (!o->layer->row->size(o))
            memset(out, 0, o->layer->n_out * sizeof *out);
    bool open = nc_keeps_sizes(o->layer) && o->layer->n_in && is_open(o);
    for (uint32_t i = 0; i < o->layer->n_out; i++) {
        r->blobs.items[o->layer->out[i]].shape = out[i];
        r->blobs.items[o->layer->out[i]].open |= open;
    }
}

/* Declared sizes of outputs; those that other layers alias are made by the layer itself. */
static bool emit_layer(nc_op *o, ir_id *in, ir_id *out)
{
    nc_reader *r = o->r;
    const nc_row *row = o->layer->row;
    o->l = (foreign_layer){.f = &r->f,
                           .name = o->layer->name,
                           .in = in,
                           .out = out,
                           .n_in = o->layer->n_in,
                           .n_out = o->layer->n_out};
    for (uint32_t i = 0; i < o->l.n_in; i++)
        in[i] = r->blobs.items[o->layer->in[i]].value;
    bool alias = row && row->emit == nc_alias;
    for (uint32_t i = 0; i < o->l.n_out; i++) {
        nc_blob *b = &r->blobs.items[o->layer->out[i]];
        int64_t dims[NC_RANK + 1];
        int rank = nc_dims(&o->out[i], dims);
        b->value = out[i] = alias && o->l.n_in ? in[0]
                                               : foreign_value(&r->f, b->name, IR_FLOAT32,
                                                               o->out[i].rank ? rank : -1, dims);
        if (out[i] == IR_NONE)
            return false;
    }
    if (alias && o->l.n_in)
        return true;
    bool fits = row && o->l.n_in >= row->least_in && o->l.n_out;
    bool done = fits && (row->emit ? row->emit(o)
                                   : layer_node_of(&o->l, NULL, row->op, in, o->l.n_in, NULL, 1) !=
                                         IR_NONE);
    if (!done)
        layer_unknown(&o->l, o->layer->type.p);
    return true;
}

assay_status nc_run_layers(nc_reader *r, bool emit, bool *clash)
{
    for (uint32_t i = 0; i < r->layers.n; i++) {
        const nc_layer *l = &r->layers.items[i];
        size_t n_in = (size_t)l->n_in + 1, n_out = (size_t)l->n_out + 1;
        nc_shape in[8], out[8];
        bool small = n_in <= 8 && n_out <= 8;
        nc_op o = {.r = r, .layer = l, .emit = emit};
        nc_shape *a = small ? in : ARENA_ARRAY(r->f.scratch, nc_shape, n_in);
        nc_shape *b = small ? out : ARENA_ARRAY(r->f.scratch, nc_shape, n_out);
        ir_id *ids = emit ? ARENA_ARRAY(r->f.scratch, ir_id, n_in + n_out) : NULL;
        if (!a || !b || (emit && !ids))
            return err_no_memory(r->f.err);
        open_op(&o, a, b);
        *clash |= o.clash;
        if (emit && !emit_layer(&o, ids, ids + n_in))
            return err_no_memory(r->f.err);
        if (arena_failed(r->f.m->arena) || arena_failed(r->f.scratch))
            return err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

/* Whether no sizes contradict each other with inputs of that side. */
static assay_status try_side(nc_reader *r, int64_t side, bool *fits)
{
    bool clash = false;
    r->side = side;
    TRY(nc_run_layers(r, false, &clash));
    *fits = !clash;
    return ASSAY_OK;
}

/* Height and width; a width of 0 is the height. */
static const int16_t usual[][2] = {
    {224, 0},    {640, 0},  {320, 0},   {416, 0},   {256, 0},    {512, 0},   {608, 0},
    {300, 0},    {480, 0},  {384, 0},   {160, 0},   {192, 0},    {128, 0},   {96, 0},
    {112, 0},    {64, 0},   {48, 0},    {32, 0},    {80, 0},     {550, 0},   {960, 0},
    {1280, 0},   {1024, 0}, {240, 320}, {480, 640}, {320, 240},  {640, 480}, {360, 640},
    {720, 1280}, {48, 320}, {32, 320},  {32, 100},  {768, 1024}, {544, 960}};

/* The first usual size of an image that fits, then any multiple of 8, then any. */
static assay_status fit_image(nc_reader *r, bool *fits)
{
    *fits = false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !*fits; i++) {
        r->width = usual[i][1];
        TRY(try_side(r, usual[i][0], fits));
    }
    if (*fits)
        return ASSAY_OK;
    r->width = 0;
    for (int64_t step = 8; step > 0 && !*fits; step = step > 1 && r->layers.n < 500 ? 1 : 0)
        for (int64_t side = 8; side < 1280 && r->layers.n < 2000 && !*fits; side += step)
            TRY(try_side(r, side, fits));
    return ASSAY_OK;
}

static assay_status choose_side(nc_reader *r)
{
    bool fits = false;
    TRY(nc_find_wants(r));
    TRY(try_side(r, 0, &fits));
    r->override = !fits && r->images;
    if (r->override)
        TRY(try_side(r, 0, &fits));
    if (!r->sized)
        return ASSAY_OK;
    TRY(fit_image(r, &fits));
    if (fits)
        return ASSAY_OK;
    r->side = 0;
    r->override = false;
    return ASSAY_OK;
}

static assay_status add_outputs(nc_reader *r)
{
    for (uint32_t i = 0; i < r->layers.n; i++)
        for (uint32_t k = 0; k < r->layers.items[i].n_out; k++) {
            const nc_blob *b = &r->blobs.items[r->layers.items[i].out[k]];
            if (!b->used && b->value != IR_NONE && !foreign_output(&r->f, b->value))
                return err_no_memory(r->f.err);
        }
    return ASSAY_OK;
}

static assay_status read_model(nc_reader *r)
{
    bool clash = false;
    TRY_MEMORY(map_init(&r->by_name, r->f.scratch, 256), r->f.err);
    TRY(read_param(r));
    TRY(choose_side(r));
    TRY(nc_run_layers(r, true, &clash));
    nc_check_bin(r);
    return add_outputs(r);
}

/* The model keeps the source of its constants: the .bin. */
assay_status ncnn_read(source *src, const char *path, size_t limit, ir_model **out,
                       assay_error *err)
{
    nc_reader r = {.at = 0};
    assay_status status = foreign_new(&r.f, NC_DOMAIN, src, limit, err);
    if (status == ASSAY_OK)
        status = nc_open_bin(&r, path);
    if (status == ASSAY_OK)
        status = read_model(&r);
    return foreign_done_beside(&r.f, r.bin, status, out, err);
}
