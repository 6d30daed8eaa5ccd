/* OpenVINO IR: the model, its layers in the order of their edges, constants; see openvino.h. */
#include "formats/openvino/openvino.h"

#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "formats/openvino/openvino_impl.h"

/* ---- constants ---- */

static assay_status outside_bin(ov_reader *r, str name)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                    "constant '" STR_FMT "' lies outside the .bin file", STR_ARG(name));
}

/* `as` has the sizes; the data is a slice of the .bin, where it is there and has that many bytes. */
static ir_id constant_of(ov_reader *r, str name, ir_tensor *as, uint64_t offset, uint64_t size)
{
    ir_tensor *own;
    ir_id id = as ? foreign_slice_own(&r->f, name, as, offset, size, &own) : IR_NONE;
    if (id == IR_NONE)
        return id;
    if (own->dtype == IR_STRING)
        own->size_bytes = size;
    if (!r->bin || own->size_bytes != size)
        own->storage = IR_DATA_NONE;
    if (own->size_bytes != size) {
        own->stored = STR("packed");
        own->stored_bytes = size;
    }
    return id;
}

static bool const_dims(const ov_layer *l, int64_t *dims, int *rank)
{
    str shape = {0};
    for (uint32_t i = 0; i < l->data.n; i++)
        if (str_is(l->data.items[i].name, "shape"))
            shape = l->data.items[i].value;
    if (!shape.p && l->out.n && l->out.items[0].rank >= 0) { /* versions 2 to 7 */
        *rank = l->out.items[0].rank;
        memcpy(dims, l->out.items[0].dims, (size_t)*rank * sizeof *dims);
    } else {
        *rank = ov_parse_ints(shape, dims, IR_MAX_RANK);
    }
    for (int d = 0; d < *rank; d++)
        if (dims[d] < 0)
            return false;
    return *rank >= 0;
}

typedef struct const_place {
    ir_dtype dtype;
    int rank;
    int64_t dims[IR_MAX_RANK];
    uint64_t offset, size, elements;
} const_place;

static bool find_place(const ov_layer *l, const_place *p)
{
    str offset = {0}, size = {0}, type = {0};
    for (uint32_t i = 0; i < l->data.n; i++) {
        const xml_attr *a = &l->data.items[i];
        offset = str_is(a->name, "offset") ? a->value : offset;
        size = str_is(a->name, "size") ? a->value : size;
        type = str_is(a->name, "element_type") ? a->value : type;
    }
    if (!const_dims(l, p->dims, &p->rank))
        return false;
    p->dtype = ov_dtype(type);
    if (p->dtype == IR_UNDEFINED && l->out.n)
        p->dtype = l->out.items[0].dtype;
    if (l->blobs.n) { /* versions 2 to 7 */
        const ov_blob *b = &l->blobs.items[0];
        p->dtype = b->dtype != IR_UNDEFINED ? b->dtype : l->precision;
        p->offset = b->offset;
        p->size = b->size;
    } else if (!str_to_u64(offset, &p->offset) || !str_to_u64(size, &p->size)) {
        return false;
    }
    p->elements = 1;
    for (int d = 0; d < p->rank; d++)
        p->elements = sat_mul(p->elements, (uint64_t)p->dims[d]);
    return p->dtype != IR_UNDEFINED;
}

static assay_status bad_constant(ov_reader *r, const ov_layer *l)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                    "constant '" STR_FMT "' has no valid type, shape, offset or size",
                    STR_ARG(l->name));
}

static assay_status read_constant(ov_reader *r, ov_layer *l)
{
    const_place p = {0};
    if (!find_place(l, &p))
        return bad_constant(r, l);
    uint64_t all = r->bin ? source_size(r->bin) : UINT64_MAX;
    if (p.offset > all || p.size > all - p.offset)
        return outside_bin(r, l->name);
    if (!l->counted)
        foreign_count(&r->f, p.elements, p.size);
    l->counted = true;
    return ASSAY_OK;
}

/* Made where it is used, so that an operator may give it other sizes. */
static ir_id use_constant(ov_reader *r, ov_layer *l)
{
    const_place p = {0};
    if (!find_place(l, &p))
        return IR_NONE;
    static const int64_t none[1];
    return constant_of(
        r, l->name,
        ir_make_tensor_borrowed(r->f.m, STR(""), p.dtype, p.rank, p.rank ? p.dims : none), p.offset,
        p.size);
}

ir_id ov_reshaped(ov_op *o, uint32_t i, const int64_t *dims, int n)
{
    ov_layer *c = ov_constant(o, i);
    const_place p = {0};
    uint64_t elements = 1;
    for (int d = 0; d < n; d++)
        elements = sat_mul(elements, dims[d] < 0 ? 0 : (uint64_t)dims[d]);
    if (!c || c->uses != 1 || c->made[0] != IR_NONE || !find_place(c, &p) || p.elements != elements)
        return layer_step_reshape(&o->l, ov_use(o->r, o->net, o->layer, i), dims, n);
    c->made[0] = constant_of(o->r, c->name,
                             ir_make_tensor_borrowed(o->r->f.m, STR(""), p.dtype, n, dims),
                             p.offset, p.size);
    return c->made[0];
}

ir_id ov_blob_value(const ov_op *o, const char *name, int rank, const int64_t *dims)
{
    for (uint32_t i = 0; i < o->layer->blobs.n; i++) {
        const ov_blob *b = &o->layer->blobs.items[i];
        ir_dtype t = b->dtype != IR_UNDEFINED ? b->dtype : o->layer->precision;
        uint64_t all = o->r->bin ? source_size(o->r->bin) : UINT64_MAX, n = 1;
        if (!str_is(b->name, name))
            continue;
        if (t == IR_UNDEFINED || b->offset > all || b->size > all - b->offset)
            return IR_NONE;
        for (int d = 0; d < rank; d++)
            n = sat_mul(n, (uint64_t)dims[d]);
        foreign_count(&o->r->f, n, b->size);
        str full = str_printf(o->r->f.m->arena, STR_FMT "/%s", STR_ARG(o->layer->name), name);
        return constant_of(o->r, full, ir_make_tensor_borrowed(o->r->f.m, STR(""), t, rank, dims),
                           b->offset, b->size);
    }
    return IR_NONE;
}

uint64_t ov_blob_elements(const ov_op *o, const char *name)
{
    for (uint32_t i = 0; i < o->layer->blobs.n; i++) {
        const ov_blob *b = &o->layer->blobs.items[i];
        ir_dtype t = b->dtype != IR_UNDEFINED ? b->dtype : o->layer->precision;
        unsigned bits = ir_dtype_get(t)->bits;
        if (str_is(b->name, name) && bits)
            return b->size < UINT64_MAX / 8 ? b->size * 8 / bits : 0;
    }
    return 0;
}

/* ---- values ---- */

ir_id ov_use(ov_reader *r, ov_net *net, ov_layer *layer, uint32_t i)
{
    if (i >= layer->in.n || layer->from[i].layer == UINT32_MAX)
        return IR_NONE;
    ov_layer *from = &net->layers.items[layer->from[i].layer];
    ir_id *made = &from->made[layer->from[i].port];
    if (*made == IR_NONE && str_is(from->type, "Const"))
        *made = use_constant(r, from);
    return *made;
}

static void name_open_sizes(ov_reader *r, const ov_port *p, ir_id id, str name)
{
    ir_value *v = ir_value_at(r->f.m, id);
    if (v->declared.kind == IR_KIND_NONE || p->rank <= 0 || !v->declared.dims)
        return;
    ir_dim *dims = arena_copy(r->f.m->arena, v->declared.dims, (size_t)p->rank * sizeof *dims);
    if (!dims)
        return;
    for (int d = 0; d < p->rank; d++) {
        if (p->dims[d] >= 0 || !p->ranges || !p->ranges[d].n)
            continue;
        dims[d].symbol = str_printf(r->f.m->arena, STR_FMT ".%d", STR_ARG(name), d);
        notes_add(&r->f.m->notes, "dynamic-range", name, NULL,
                  "Axis %d of this input has a size of " STR_FMT ".", d, STR_ARG(p->ranges[d]));
    }
    v->declared.dims = dims;
}

/* "<layer>", "<layer>.1", ... */
static ir_id define(ov_reader *r, ov_layer *l, uint32_t i)
{
    const ov_port *p = &l->out.items[i];
    str name = i ? str_printf(r->f.m->arena, STR_FMT ".%u", STR_ARG(l->name), i) : l->name;
    ir_dtype old = l->precision != IR_UNDEFINED ? l->precision : IR_FLOAT32;
    ir_dtype t = p->dtype == IR_UNDEFINED && r->version < 10 ? old : p->dtype;
    l->made[i] = foreign_value(&r->f, name, t, p->rank, p->dims);
    return l->made[i];
}

static assay_status read_parameter(ov_reader *r, ov_layer *l)
{
    if (l->out.n != 1)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "input '" STR_FMT "' has no port",
                        STR_ARG(l->name));
    for (uint32_t i = 0; i < l->data.n; i++)
        if (str_is(l->data.items[i].name, "element_type") && l->out.items[0].dtype == IR_UNDEFINED)
            l->out.items[0].dtype = ov_dtype(l->data.items[i].value);
    if (l->out.items[0].dtype == IR_UNDEFINED)
        l->out.items[0].dtype = IR_FLOAT32;
    if (r->depth > 0)
        return ASSAY_OK; /* the layer that has the body gives its value */
    ir_id id = define(r, l, 0);
    if (id == IR_NONE || !ir_add_input(r->f.m, 0, id))
        return err_no_memory(r->f.err);
    name_open_sizes(r, &l->out.items[0], id, l->name);
    return ASSAY_OK;
}

static assay_status read_result(ov_reader *r, ov_net *net, ov_layer *l)
{
    ir_id id = ov_use(r, net, l, 0);
    if (r->depth > 0)
        return ASSAY_OK;
    if (id == IR_NONE)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "output '" STR_FMT "' has no source",
                        STR_ARG(l->name));
    return foreign_output(&r->f, id) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* ---- layers ---- */

static bool enough_inputs(const ov_op *o)
{
    bool enough = o->l.n_in >= o->row->least_in;
    for (uint32_t i = 0; enough && i < o->row->least_in; i++)
        enough = o->l.in[i] != IR_NONE;
    return enough && (o->l.n_out || !o->row->least_in);
}

/* Constants are made only when a mapping wants them; for the others, all inputs are. */
static bool map_layer(ov_op *o)
{
    ir_id *in = ARENA_ARRAY(o->r->f.scratch, ir_id, (size_t)o->layer->in.n + 1);
    if (!in)
        return true; /* foreign_done() reports it */
    o->l.in = o->in = in;
    o->l.n_in = o->layer->in.n;
    bool own = o->row && (o->row->map == ov_group_conv || o->row->map == ov_group_deconv ||
                          o->row->map == ov_prelu);
    for (uint32_t i = 0; i < o->l.n_in; i++)
        in[i] = own && i == 1 && ov_constant(o, 1) ? IR_NONE : ov_use(o->r, o->net, o->layer, i);
    if (own && o->l.n_in > 1 && o->l.n_out && in[0] != IR_NONE)
        return o->row->map(o);
    if (!o->row || !enough_inputs(o))
        return false;
    if (o->row->map)
        return o->row->map(o);
    return layer_node_of(&o->l, NULL, o->row->op, o->l.in, o->l.n_in, NULL, 1) != IR_NONE;
}

static assay_status add_layer(ov_reader *r, ov_net *net, ov_layer *l)
{
    ov_op o = {.l = {.f = &r->f, .name = l->name, .out = l->made, .n_out = l->out.n},
               .r = r,
               .net = net,
               .layer = l,
               .row = ov_row_of(l->type, r->version)};
    for (uint32_t i = 0; i < l->out.n; i++)
        if (define(r, l, i) == IR_NONE)
            return err_no_memory(r->f.err);
    /* Assign may have no output: it keeps a state for the next run. */
    bool mapped = (o.row && !l->out.n) || map_layer(&o);
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    if (!mapped) {
        for (uint32_t i = 0; i < o.l.n_in; i++)
            o.in[i] = ov_use(r, net, l, i);
        layer_unknown(&o.l, l->type.p);
    }
    return arena_failed(r->f.m->arena) || arena_failed(r->f.scratch) ? err_no_memory(r->f.err)
                                                                     : ASSAY_OK;
}

static assay_status read_one(ov_reader *r, ov_net *net, ov_layer *l)
{
    if (str_is(l->type, "Parameter") || str_is(l->type, "Input"))
        return read_parameter(r, l);
    if (str_is(l->type, "Result"))
        return read_result(r, net, l);
    if (str_is(l->type, "Const"))
        return read_constant(r, l);
    return add_layer(r, net, l);
}

/* ---- order ---- */

typedef struct walk_step {
    uint32_t layer, next; /* input to look at */
} walk_step;

static assay_status circle(ov_reader *r, const ov_layer *l)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "layer '" STR_FMT "' depends on itself",
                    STR_ARG(l->name));
}

/* Everything that a layer reads, then the layer. */
static assay_status walk_from(ov_reader *r, ov_net *net, walk_step *stack, uint32_t first)
{
    uint32_t n = 0;
    stack[n++] = (walk_step){first, 0};
    net->layers.items[first].open = true;
    while (n) {
        walk_step *s = &stack[n - 1];
        ov_layer *l = &net->layers.items[s->layer];
        if (s->next < l->in.n) {
            uint32_t from = l->from[s->next++].layer;
            if (from == UINT32_MAX || net->layers.items[from].done)
                continue;
            if (net->layers.items[from].open)
                return circle(r, l);
            net->layers.items[from].open = true;
            stack[n++] = (walk_step){from, 0};
            continue;
        }
        TRY(read_one(r, net, l));
        l->done = true;
        n--;
    }
    return ASSAY_OK;
}

assay_status ov_build_net(ov_reader *r, ov_net *net)
{
    walk_step *stack = ARENA_ARRAY(r->f.scratch, walk_step, (size_t)net->layers.n + 1);
    TRY_MEMORY(stack, r->f.err);
    for (int inputs = 1; inputs >= 0; inputs--) /* inputs have the order of the file */
        for (uint32_t i = 0; i < net->layers.n; i++) {
            ov_layer *l = &net->layers.items[i];
            bool input = str_is(l->type, "Parameter") || str_is(l->type, "Input");
            if (!l->done && input == (inputs == 1))
                TRY(walk_from(r, net, stack, i));
        }
    return ASSAY_OK;
}

/* ---- the model ---- */

/* Versions before 10 have no Result: what nothing reads is an output. */
static assay_status add_old_outputs(ov_reader *r, ov_net *net)
{
    for (uint32_t i = 0; i < net->layers.n; i++) {
        ov_layer *l = &net->layers.items[i];
        for (uint32_t k = 0; l->uses == 0 && k < l->out.n; k++)
            if (l->made[k] != IR_NONE && !foreign_output(&r->f, l->made[k]))
                return err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

static void note_weights(ov_reader *r)
{
    if (!r->bin && r->f.m->stored.tensors)
        notes_add(&r->f.m->notes, "weights-absent", STR(""),
                  "Put the .bin file beside the .xml file.",
                  "The .bin file with the weights is missing. %s",
                  r->guessed ? "Axes, shapes and other small constants were taken from the sizes "
                               "that the .xml declares."
                             : "No operator needed a value from it.");
}

static assay_status read_root(ov_reader *r)
{
    xml *x = r->x;
    while (xml_next(x) && x->event != XML_OPEN)
        ;
    TRY(xml_status(x));
    int64_t version = 0;
    if (!str_is(x->name, "net"))
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "unsupported format: an XML document whose root is <" STR_FMT
                        ">, not <net>. Name the .xml file of an OpenVINO model.",
                        STR_ARG(x->name));
    if (!str_to_i64(xml_attr_of(x, "version"), &version) || version < 2 || version > 11)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "OpenVINO IR version '" STR_FMT
                        "'; versions 2 to 11 are supported. Convert the model again with a newer "
                        "OpenVINO.",
                        STR_ARG(xml_attr_of(x, "version")));
    r->version = r->f.m->ir_version = version;
    return ASSAY_OK;
}

static assay_status read_model(ov_reader *r)
{
    ov_net *net = ARENA_NEW(r->f.scratch, ov_net);
    r->x = ARENA_NEW(r->f.scratch, xml);
    TRY_MEMORY(net && r->x, r->f.err);
    if (source_size(r->f.src) > OV_MAX_XML)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "the .xml file is larger than %d MiB",
                        OV_MAX_XML >> 20);
    xml_begin(r->x, r->f.src, r->f.scratch, r->f.err);
    TRY(read_root(r));
    net->name = str_copy(r->f.m->arena, xml_attr_of(r->x, "name"));
    TRY(ov_read_net(r, net));
    if (net->layers.n == 0)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "the model has no layers");
    ir_graph_at(r->f.m, 0)->name = net->name;
    TRY(ov_build_net(r, net));
    if (r->version < 10)
        TRY(add_old_outputs(r, net));
    note_weights(r);
    return ASSAY_OK;
}

/* ---- the .bin ---- */

/* NAME.bin beside NAME.xml. A link that leaves the folder is as if it were absent. */
static assay_status open_bin(ov_reader *r, const char *path)
{
    str stem = str_of(path);
    if (!path || stem.n < 4 || !str_ends(stem, ".xml"))
        return ASSAY_OK;
    char *name = arena_printf(r->f.scratch, "%.*s.bin", (int)stem.n - 4, stem.p);
    return foreign_open_beside(&r->f, name, &r->bin);
}

/* The model keeps the source of its constants: the .bin. */
assay_status openvino_read(source *src, const char *path, size_t limit, ir_model **out,
                           assay_error *err)
{
    ov_reader r = {.version = 0};
    assay_status status = foreign_new(&r.f, OV_DOMAIN, src, limit, err);
    if (status == ASSAY_OK)
        status = open_bin(&r, path);
    if (status == ASSAY_OK)
        status = read_model(&r);
    return foreign_done_beside(&r.f, r.bin, status, out, err);
}
