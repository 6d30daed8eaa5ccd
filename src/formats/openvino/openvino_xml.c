/* OpenVINO IR: the elements of the .xml as nets, layers, ports and edges. */
#include <stdlib.h>

#include "formats/openvino/openvino_impl.h"

/* ---- words ---- */

ir_dtype ov_dtype(str name)
{
    static const struct {
        ir_dtype t;
        const char *names;
    } rows[] = {
        {IR_FLOAT32, "f32|FP32"},
        {IR_FLOAT16, "f16|FP16"},
        {IR_BFLOAT16, "bf16|BF16"},
        {IR_FLOAT64, "f64|FP64"},
        {IR_INT64, "i64|I64"},
        {IR_INT32, "i32|I32"},
        {IR_INT16, "i16|I16"},
        {IR_INT8, "i8|I8"},
        {IR_INT4, "i4|I4"},
        {IR_INT2, "i2|I2"},
        {IR_UINT64, "u64|U64"},
        {IR_UINT32, "u32|U32"},
        {IR_UINT16, "u16|U16"},
        {IR_UINT8, "u8|U8"},
        {IR_UINT4, "u4|U4"},
        {IR_UINT2, "u2|U2"},
        {IR_STRING, "string|STRING"},
        {IR_BOOL, "boolean|BOOL|bool|u1|U1|BIN"},
        {IR_FLOAT8E5M2, "f8e5m2|F8E5M2"},
        {IR_FLOAT4E2M1, "nf4|NF4|f4e2m1|F4E2M1"},
        {IR_FLOAT8E8M0, "f8e8m0|F8E8M0"},
        {IR_FLOAT8E4M3FN, "f8e4m3|F8E4M3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_in_list(name, rows[i].names, '|'))
            return rows[i].t;
    return IR_UNDEFINED;
}

int ov_parse_ints(str text, int64_t *list, int max)
{
    int n = 0;
    text = str_trim(text);
    if (text.n == 0)
        return 0;
    for (str item; str_split(&text, ',', &item); n++)
        if (n >= max || !str_to_i64(str_trim(item), &list[n]))
            return -1;
    return n;
}

static uint64_t attr_id(ov_reader *r, const char *name)
{
    uint64_t v = 0;
    if (!str_to_u64(xml_attr_of(r->x, name), &v))
        xml_fail(r->x, "an element has no valid number where it needs one");
    return v;
}

static int64_t attr_i64(const xml *x, const char *name, int64_t def)
{
    int64_t v;
    return str_to_i64(xml_attr_of(x, name), &v) ? v : def;
}

static str kept(ov_reader *r, str s)
{
    return str_copy(r->f.m->arena, s);
}

/* ---- ports ---- */

/* A size: a number, -1 or "?", or a range "1..8" or "..8", which is kept as text. */
static void take_dim(ov_reader *r, ov_port *p, str *ranges, str text)
{
    int64_t v = -1;
    text = str_trim(text);
    if (p->rank >= IR_MAX_RANK) {
        xml_fail(r->x, "a port has too many sizes");
        return;
    }
    if (!str_to_i64(text, &v) && !str_is(text, "?") && !str_contains(text, ".."))
        xml_fail(r->x, "a size is not a number");
    if (v < 0 && str_contains(text, ".."))
        ranges[p->rank] = str_copy(r->f.scratch, text);
    p->dims[p->rank++] = v < 0 ? -1 : v;
}

static void keep_dims(ov_reader *r, ov_port *p, const str *ranges)
{
    bool any = false;
    for (int d = 0; d < p->rank; d++)
        any |= ranges[d].n > 0;
    p->dims = arena_copy(r->f.scratch, p->dims, ((size_t)p->rank + 1) * sizeof *p->dims);
    if (any)
        p->ranges = arena_copy(r->f.scratch, ranges, (size_t)p->rank * sizeof *ranges);
}

static ov_port read_port(ov_reader *r)
{
    int64_t dims[IR_MAX_RANK + 1] = {0};
    str ranges[IR_MAX_RANK] = {{0}};
    xml *x = r->x;
    ov_port p = {
        .id = attr_id(r, "id"), .dtype = ov_dtype(xml_attr_of(x, "precision")), .dims = dims};
    uint32_t depth = x->depth;
    bool in_dim = false, unranked = false;
    while (xml_next(x) && x->depth >= depth) {
        if (x->event == XML_OPEN) {
            in_dim = str_is(x->name, "dim");
            if (str_is(x->name, "rt_info"))
                xml_skip(x);
        } else if (x->event == XML_TEXT && in_dim) {
            unranked |= str_is(str_trim(x->text), "...");
            if (!unranked)
                take_dim(r, &p, ranges, x->text);
        } else {
            in_dim = false;
        }
    }
    keep_dims(r, &p, ranges);
    if (unranked)
        p.rank = -1;
    return p;
}

static void read_ports(ov_reader *r, ov_layer *l, bool output)
{
    uint32_t depth = r->x->depth;
    while (xml_next(r->x) && r->x->depth >= depth) {
        if (r->x->event != XML_OPEN)
            continue;
        if (!str_is(r->x->name, "port")) {
            xml_skip(r->x);
            continue;
        }
        if ((output ? l->out.n : l->in.n) >= OV_MAX_PORTS) {
            xml_fail(r->x, "a layer has too many ports");
            return;
        }
        ov_port p = read_port(r);
        if (output)
            (void)!VEC_ADD(r->f.scratch, &l->out, p);
        else
            (void)!VEC_ADD(r->f.scratch, &l->in, p);
    }
}

/* ---- parts of a layer ---- */

static void read_data(ov_reader *r, ov_layer *l)
{
    for (uint32_t i = 0; i < r->x->n_attrs; i++)
        (void)!VEC_ADD(r->f.scratch, &l->data,
                       (xml_attr){str_copy(r->f.scratch, r->x->attrs[i].name),
                                  str_copy(r->f.scratch, r->x->attrs[i].value)});
    xml_skip(r->x);
}

static void read_blob(ov_reader *r, ov_layer *l)
{
    const xml *x = r->x;
    if (!xml_attr_of(x, "offset").p || !xml_attr_of(x, "size").p)
        return;
    ov_blob b = {.name = str_copy(r->f.scratch, x->name),
                 .dtype = ov_dtype(xml_attr_of(x, "precision")),
                 .offset = attr_id(r, "offset"),
                 .size = attr_id(r, "size")};
    (void)!VEC_ADD(r->f.scratch, &l->blobs, b);
}

static void read_blobs(ov_reader *r, ov_layer *l)
{
    uint32_t depth = r->x->depth;
    while (xml_next(r->x) && r->x->depth >= depth)
        if (r->x->event == XML_OPEN)
            read_blob(r, l);
}

static void read_mapping(ov_reader *r, ov_layer *l, int body)
{
    const xml *x = r->x;
    str purpose = xml_attr_of(x, "purpose");
    ov_mapping m = {.output = str_is(x->name, "output"),
                    .external = attr_i64(x, "external_port_id", -1),
                    .layer = attr_i64(x, "internal_layer_id", -1),
                    .sliced = xml_attr_of(x, "axis").p != NULL,
                    .axis = attr_i64(x, "axis", 0),
                    .start = attr_i64(x, "start", 0),
                    .end = attr_i64(x, "end", -1),
                    .stride = attr_i64(x, "stride", 1),
                    .part = attr_i64(x, "part_size", 1),
                    .body = body,
                    .is_condition = str_is(purpose, "execution_condition"),
                    .is_iteration = str_is(purpose, "current_iteration")};
    if (str_is(x->name, "edge"))
        m = (ov_mapping){.back = true,
                         .layer = attr_i64(x, "from-layer", -1),
                         .to = attr_i64(x, "to-layer", -1)};
    if (l->maps.n >= OV_MAX_PORTS)
        xml_fail(r->x, "a layer has too many ports");
    (void)!VEC_ADD(r->f.scratch, &l->maps, m);
}

static void read_mappings(ov_reader *r, ov_layer *l, int body)
{
    uint32_t depth = r->x->depth;
    while (xml_next(r->x) && r->x->depth >= depth)
        if (r->x->event == XML_OPEN)
            read_mapping(r, l, body);
}

static assay_status read_body(ov_reader *r, ov_layer *l, int which)
{
    if (l->body[which] || ++r->depth > OV_MAX_DEPTH) {
        xml_fail(r->x, "a layer has two bodies of one kind, or bodies are nested too deeply");
        return xml_status(r->x);
    }
    l->body[which] = ARENA_NEW(r->f.scratch, ov_net);
    TRY_MEMORY(l->body[which], r->f.err);
    TRY(ov_read_net(r, l->body[which]));
    r->depth--;
    return ASSAY_OK;
}

static assay_status read_part(ov_reader *r, ov_layer *l)
{
    str name = r->x->name;
    if (str_is(name, "data"))
        read_data(r, l);
    else if (str_is(name, "input") || str_is(name, "output"))
        read_ports(r, l, str_is(name, "output"));
    else if (str_is(name, "blobs"))
        read_blobs(r, l);
    else if (str_is(name, "weights") || str_is(name, "biases"))
        read_blob(r, l), xml_skip(r->x);
    else if (str_is(name, "port_map") || str_is(name, "then_port_map") ||
             str_is(name, "back_edges"))
        read_mappings(r, l, 0);
    else if (str_is(name, "else_port_map"))
        read_mappings(r, l, 1);
    else if (str_is(name, "body") || str_is(name, "then_body"))
        return read_body(r, l, 0);
    else if (str_is(name, "else_body"))
        return read_body(r, l, 1);
    else
        xml_skip(r->x);
    return xml_status(r->x);
}

static assay_status read_layer(ov_reader *r, ov_net *net)
{
    xml *x = r->x;
    if (++r->n_layers > FOREIGN_MAX_NODES)
        xml_fail(x, "too many layers");
    ov_layer l = {.id = attr_id(r, "id"),
                  .name = kept(r, xml_attr_of(x, "name")),
                  .type = kept(r, xml_attr_of(x, "type")),
                  .opset = str_copy(r->f.scratch, xml_attr_of(x, "version")),
                  .precision = ov_dtype(xml_attr_of(x, "precision"))};
    uint32_t depth = x->depth;
    if (l.type.n == 0 || l.name.n > FOREIGN_MAX_NAME)
        xml_fail(x, "a layer has no type, or its name is too long");
    while (xml_next(x) && x->depth >= depth)
        if (x->event == XML_OPEN)
            TRY(read_part(r, &l));
    TRY(xml_status(x));
    return VEC_ADD(r->f.scratch, &net->layers, l) ? ASSAY_OK : err_no_memory(r->f.err);
}

/* ---- edges ---- */

static void read_edges(ov_reader *r, ov_net *net)
{
    xml *x = r->x;
    uint32_t depth = x->depth;
    while (xml_next(x) && x->depth >= depth) {
        if (x->event != XML_OPEN)
            continue;
        ov_edge e = {attr_id(r, "from-layer"), attr_id(r, "from-port"), attr_id(r, "to-layer"),
                     attr_id(r, "to-port")};
        (void)!VEC_ADD(r->f.scratch, &net->edges, e);
    }
}

static int by_id(const void *a, const void *b)
{
    const struct ov_place *p = a, *q = b;
    return p->id < q->id ? -1 : p->id > q->id;
}

ov_layer *ov_layer_of(ov_net *net, uint64_t id)
{
    const struct ov_place key = {.id = id};
    const struct ov_place *p = net->layers.n ? bsearch(&key, net->places, net->layers.n,
                                                       sizeof *net->places, by_id)
                                             : NULL;
    return p ? &net->layers.items[p->at] : NULL;
}

/* Ports have ids of their own; UINT32_MAX: none. */
static uint32_t port_index(const ov_port *ports, uint32_t n, uint64_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ports[i].id == id)
            return i;
    return UINT32_MAX;
}

static assay_status bad_edge(ov_reader *r, const ov_edge *e)
{
    return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                    "the edge from layer %llu to layer %llu names a layer or a port that does not "
                    "exist",
                    (unsigned long long)e->from_layer, (unsigned long long)e->to_layer);
}

static assay_status connect_edge(ov_reader *r, ov_net *net, const ov_edge *e)
{
    ov_layer *from = ov_layer_of(net, e->from_layer), *to = ov_layer_of(net, e->to_layer);
    uint32_t out = from ? port_index(from->out.items, from->out.n, e->from_port) : UINT32_MAX;
    uint32_t in = to ? port_index(to->in.items, to->in.n, e->to_port) : UINT32_MAX;
    if (in == UINT32_MAX || out == UINT32_MAX)
        return bad_edge(r, e);
    to->from[in] = (struct ov_source){(uint32_t)(from - net->layers.items), out};
    from->uses++;
    return ASSAY_OK;
}

static assay_status open_layers(ov_reader *r, ov_net *net)
{
    net->places = ARENA_ARRAY(r->f.scratch, struct ov_place, (size_t)net->layers.n + 1);
    TRY_MEMORY(net->places, r->f.err);
    for (uint32_t i = 0; i < net->layers.n; i++) {
        ov_layer *l = &net->layers.items[i];
        net->places[i] = (struct ov_place){l->id, i};
        l->from = ARENA_ARRAY(r->f.scratch, struct ov_source, (size_t)l->in.n + 1);
        l->made = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)l->out.n + 1);
        TRY_MEMORY(l->from && l->made, r->f.err);
        for (uint32_t k = 0; k < l->in.n; k++)
            l->from[k].layer = UINT32_MAX;
        for (uint32_t k = 0; k < l->out.n; k++)
            l->made[k] = IR_NONE;
    }
    qsort(net->places, net->layers.n, sizeof *net->places, by_id);
    for (uint32_t i = 1; i < net->layers.n; i++)
        if (net->places[i].id == net->places[i - 1].id)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "two layers have the id %llu",
                            (unsigned long long)net->places[i].id);
    return ASSAY_OK;
}

assay_status ov_read_net(ov_reader *r, ov_net *net)
{
    xml *x = r->x;
    uint32_t depth = x->depth;
    while (xml_next(x) && x->depth >= depth) {
        if (x->event != XML_OPEN)
            continue;
        if (str_is(x->name, "edges"))
            read_edges(r, net);
        else if (str_is(x->name, "layer"))
            TRY(read_layer(r, net));
        else if (!str_is(x->name, "layers"))
            xml_skip(x);
    }
    TRY(xml_status(x));
    TRY(open_layers(r, net));
    for (uint32_t i = 0; i < net->edges.n; i++)
        TRY(connect_edge(r, net, &net->edges.items[i]));
    return ASSAY_OK;
}
