/* TorchScript archives: their code, objects and weights, and the sizes that inputs are assumed to have; see script.h. */
#include "formats/torch/script.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "formats/torch/script_impl.h"

#define ARCHIVE_BYTES ((size_t)1 << 30)

/* ---- code ---- */

bool script_is_inside(const zip_directory *z)
{
    bool code = false, constants = false;
    for (uint32_t i = 0; i < z->entries.n; i++) {
        str name = z->entries.items[i].name;
        code |= str_contains(name, "/code/__torch__") && str_ends(name, ".py");
        constants |= str_ends(name, "/constants.pkl") || str_ends(name, "/data.pkl");
    }
    return code && constants;
}

static assay_status parse_file(script_archive *s, const zip_entry *e, str module, script_file **out)
{
    str text;
    TRY(zip_unpack(s->src, e, SCRIPT_MAX_CODE, s->a, &text, s->err));
    script_file *f = ARENA_NEW(s->a, script_file);
    str own = str_copy(s->a, module);
    TRY_MEMORY(f && own.p, s->err);
    TRY(script_parse(text, own, s->a, f, s->err));
    TRY_MEMORY(VEC_ADD(s->a, &s->parsed, f) && map_put(&s->files, own, s->parsed.n - 1), s->err);
    *out = f;
    return ASSAY_OK;
}

assay_status script_file_of(script_archive *s, str qualified, script_file **out)
{
    uint32_t dot = qualified.n;
    while (dot && qualified.p[dot - 1] != '.')
        dot--;
    str module = {qualified.p, dot ? dot - 1 : 0};
    uint32_t at = map_get(&s->files, module);
    *out = at == MAP_NONE ? NULL : s->parsed.items[at];
    if (*out || !module.n)
        return ASSAY_OK;
    char *path = arena_printf(s->a, STR_FMT "code/" STR_FMT ".py", STR_ARG(s->root),
                              STR_ARG(module));
    TRY_MEMORY(path, s->err);
    for (char *p = path + s->root.n + strlen("code/"); p + strlen(".py") < path + strlen(path); p++)
        *p = *p == '.' ? '/' : *p;
    const zip_entry *e = zip_find(&s->z, str_of(path));
    return e ? parse_file(s, e, module, out) : ASSAY_OK;
}

const script_class *script_class_of(const script_file *f, str qualified)
{
    for (uint32_t i = 0; i < f->classes.n; i++) {
        str name = f->classes.items[i]->name;
        if (name.n && name.n < qualified.n &&
            memcmp(qualified.p + qualified.n - name.n, name.p, name.n) == 0 &&
            qualified.p[qualified.n - name.n - 1] == '.')
            return f->classes.items[i];
    }
    return NULL;
}

const script_function *script_method(const script_class *c, const char *name)
{
    for (uint32_t i = 0; i < c->methods.n; i++)
        if (str_is(c->methods.items[i]->name, name))
            return c->methods.items[i];
    return NULL;
}

/* ---- objects ---- */

/* Names of attributes in a list of the class, such as __buffers__, get a role. */
static void set_roles(script_archive *s, const script_class *c, str path, const char *list,
                      weight_role role)
{
    for (uint32_t i = 0; i < c->constants.n; i++) {
        const script_constant *k = &c->constants.items[i];
        for (uint32_t n = 0; str_is(k->name, list) && n < k->value->items.n; n++) {
            str attr = k->value->items.items[n]->s;
            str name = path.n ? str_printf(s->a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(attr))
                              : attr;
            uint32_t at = name.p ? map_get(&s->set->by_name, name) : MAP_NONE;
            if (at != MAP_NONE && s->set->items.items[at].role != WEIGHT_ROLE_OTHER)
                s->set->items.items[at].role = role;
        }
    }
}

/* Objects are named by the path of attributes that leads to them first, as torch_list() names tensors. */
static assay_status name_objects(script_archive *s, pickle_value *v, str path, int depth)
{
    script_file *f = NULL;
    bool object = v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL &&
                  str_starts(v->of->text, "__torch__");
    if (!object || v->seen || depth > SCRIPT_DEPTH)
        return ASSAY_OK;
    v->seen = true;
    v->text = path;
    s->sequence |= str_ends(v->of->text, ".MultiheadAttention");
    assay_error ignored = {0}, *before = s->err;
    s->err = &ignored;
    if (script_file_of(s, v->of->text, &f) == ASSAY_OK && f && script_class_of(f, v->of->text)) {
        set_roles(s, script_class_of(f, v->of->text), path, "__parameters__",
                  WEIGHT_ROLE_PARAMETER);
        set_roles(s, script_class_of(f, v->of->text), path, "__buffers__", WEIGHT_ROLE_BUFFER);
    }
    s->err = before;
    if (ignored.code == ASSAY_ERR_SYSTEM) {
        *before = ignored;
        return ignored.code;
    }
    for (uint32_t i = 0; v->state && v->state->pairs && i + 1 < v->state->items.n; i += 2) {
        str key = v->state->items.items[i]->text;
        str own = path.n ? str_printf(s->a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(key)) : key;
        TRY_MEMORY(own.p, s->err);
        TRY(name_objects(s, v->state->items.items[i + 1], own, depth + 1));
    }
    return ASSAY_OK;
}

static assay_status read_pickle(script_archive *s, const char *name, pickle_value **out)
{
    const str path = str_printf(s->a, STR_FMT "%s", STR_ARG(s->root), name);
    const zip_entry *e = path.p ? zip_find(&s->z, path) : NULL;
    str bytes;
    source *own = NULL;
    if (!e)
        return ASSAY_OK;
    TRY(zip_unpack(s->src, e, ZIP_MAX_UNPACKED, s->a, &bytes, s->err));
    TRY(source_memory(bytes.p, bytes.n, &own, s->err));
    cursor c = cursor_at(own, 0, bytes.n, s->err);
    assay_status status = pickle_read(&c, s->a, out);
    source_close(own);
    return status;
}

/* The folder before "code/__torch__". */
static void find_root(script_archive *s)
{
    for (uint32_t i = 0; i < s->z.entries.n && !s->root.n; i++) {
        str name = s->z.entries.items[i].name;
        const char *slash = memchr(name.p, '/', name.n);
        str rest = slash ? (str){slash + 1, name.n - (uint32_t)(slash + 1 - name.p)} : (str){0};
        if (str_starts(rest, "code/__torch__"))
            s->root = (str){name.p, (uint32_t)(slash + 1 - name.p)};
    }
}

static assay_status open_archive(script_archive *s)
{
    s->set = weight_set_new(s->a, "pytorch", 256);
    TRY_MEMORY(s->set && map_init(&s->files, s->a, 64), s->err);
    TRY(zip_read(s->src, s->a, &s->z, s->err));
    find_root(s);
    TRY(torch_reader.read(s->src, source_name(s->src), STR("model"), s->set, s->err));
    TRY(read_pickle(s, "data.pkl", &s->module));
    TRY(read_pickle(s, "constants.pkl", &s->constants));
    if (!s->module || s->module->kind != PICKLE_OBJECT)
        return err_fail(s->err, ASSAY_ERR_UNSUPPORTED, "TorchScript archive without a module");
    return name_objects(s, s->module, (str){0}, 0);
}

/* ---- constants of the graph ---- */

/* Numbers of a few elements decide shapes and loops: their content is read. */
static assay_status read_small(script_run *r, const weight_item *x, ir_tensor *t)
{
    enum { SMALL = 16 };
    cursor c;
    const zip_entry e = {.header = x->entry - 1};
    if (!x->entry || x->packed || x->strides || !x->placed || x->n_elems > SMALL ||
        t->size_bytes != x->size_bytes)
        return ASSAY_OK;
    uint8_t *bytes = arena_alloc(r->f.m->arena, (size_t)t->size_bytes + 1);
    TRY_MEMORY(bytes, r->f.err);
    TRY(zip_open(r->s->src, &e, &c, r->f.err));
    TRY(source_read(r->s->src, c.pos + x->offset, bytes, t->size_bytes, r->f.err));
    t->storage = IR_DATA_INLINE;
    t->bytes = bytes;
    return ASSAY_OK;
}

static uint32_t flags_of(const weight_item *x)
{
    return x->role == WEIGHT_ROLE_PARAMETER ? IR_VALUE_PARAM
           : x->role == WEIGHT_ROLE_BUFFER  ? IR_VALUE_BUFFER
                                            : IR_VALUE_NOT_PARAM;
}

assay_status script_constant_of(script_run *r, str name, ir_id *id)
{
    uint32_t at = map_get(&r->constants, name);
    const weight_item *x = weight_set_get(r->s->set, name);
    *id = at == MAP_NONE ? IR_NONE : r->constant_ids.items[at];
    if (at != MAP_NONE || !x)
        return ASSAY_OK;
    TRY(torch_constant(&r->f, r->files, x, flags_of(x), id));
    if (*id == IR_NONE)
        return ASSAY_OK;
    if (str_starts(name, "constants.")) {
        ir_tensor *own = arena_copy(r->f.m->arena, ir_value_at(r->f.m, *id)->constant, sizeof *own);
        TRY_MEMORY(own, r->f.err);
        TRY(read_small(r, x, own));
        ir_value_at(r->f.m, *id)->constant = own;
    }
    return VEC_ADD(r->f.scratch, &r->constant_ids, *id) &&
                   map_put(&r->constants, x->name, r->constant_ids.n - 1)
               ? ASSAY_OK
               : err_no_memory(r->f.err);
}

static assay_status add_unread(script_run *r)
{
    for (uint32_t i = 0; i < r->s->set->items.n; i++) {
        const weight_item *x = &r->s->set->items.items[i];
        bool own = x->role == WEIGHT_ROLE_PARAMETER || x->role == WEIGHT_ROLE_BUFFER;
        ir_id id = IR_NONE;
        if (own)
            TRY(script_constant_of(r, x->name, &id));
        if (id != IR_NONE)
            ir_value_at(r->f.m, id)->flags |= IR_VALUE_UNREAD;
    }
    return ASSAY_OK;
}

/* ---- inputs ---- */

typedef struct script_trial {
    int64_t side; /* of images and sequences */
    int extra;    /* axes before the features of a dense layer */
    int normal;   /* rank of an input that is normalised first; 0: as it is needed */
    bool probing, first;
    int rank; /* while probing; -1: unknown */
} script_trial;

static bool is_type(const script_expr *e, const char *name)
{
    return e && e->kind == EXPR_NAME && str_is(e->s, name);
}

/* [1, C, side, side], [1, F], [1, 16, F], tokens [1, 16]. */
static int shape_of(const script_need *n, const script_trial *t, int64_t *dims)
{
    if (!n->rank) { /* nothing is known: an image */
        const int64_t image[] = {1, 3, t->side, t->side};
        memcpy(dims, image, sizeof image);
        return 4;
    }
    int rank = n->any && t->normal ? t->normal : n->rank + (n->axis == -1 ? t->extra : 0);
    rank = rank < 1 ? 1 : rank > 6 ? 6 : rank;
    for (int d = 0; d < rank; d++)
        dims[d] = d == 0 ? 1 : n->axis == -1 || n->tokens ? 16 : t->side;
    if (n->rank == 5 && n->axis == 1)
        dims[2] = 16; /* frames */
    dims[n->axis < 0 ? rank - 1 : n->axis] = n->size;
    return rank;
}

static void note_input(script_run *r, ir_id input)
{
    char text[128] = "";
    size_t n = 0;
    str name = ir_value_at(r->f.m, input)->name;
    const ir_type *t = &ir_value_at(r->f.m, input)->declared;
    for (int d = 0; d < t->rank && n < sizeof text - 24; d++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", d ? "×" : "",
                              (long long)t->dims[d].value);
    notes_add(
        &r->f.m->notes, "assumed-input", name, "Use --input-shape to set another size.",
        "The file has no size for this input. %s is assumed; the code does not contradict it.",
        text);
}

static assay_status add_input(script_run *r, str name, const script_trial *t, aten_value *out)
{
    const script_need *need = &r->s->needs[r->n_inputs];
    int64_t dims[8];
    int rank = t->probing ? t->rank : shape_of(need, t, dims);
    for (int d = 0; t->probing && d < rank; d++)
        dims[d] = -1;
    ir_id id = foreign_value(&r->f, str_copy(r->f.m->arena, name),
                             need->tokens ? IR_INT64 : IR_FLOAT32, rank, dims);
    if (id == IR_NONE || !ir_add_input(r->f.m, 0, id))
        return err_no_memory(r->f.err);
    r->inputs[r->n_inputs++] = id;
    *out = aten_of_tensor(id);
    return ASSAY_OK;
}

/* Tensors are inputs; what has a default or may be absent takes that. */
static assay_status make_args(script_run *r, const script_function *f, const script_trial *t,
                              aten_value *args, uint32_t *n)
{
    for (uint32_t i = 1; i < f->params.n; i++) {
        const script_param *p = &f->params.items[i];
        bool optional = p->type && p->type->kind == EXPR_INDEX && is_type(p->type->of, "Optional");
        if (p->value)
            break;
        if (*n == SCRIPT_MAX_INPUTS)
            return script_stop(r, "forward takes more than 16 arguments");
        args[*n] = aten_none();
        if (is_type(p->type, "Tensor"))
            TRY(add_input(r, p->name, t, &args[*n]));
        else if (!optional)
            return script_stop(r, "forward takes '" STR_FMT "', which is not a tensor",
                               STR_ARG(p->name));
        ++*n;
    }
    return r->n_inputs ? ASSAY_OK : script_stop(r, "forward takes no tensor");
}

/* ---- outputs ---- */

static assay_status add_outputs(script_run *r, const aten_value *v, int depth)
{
    if (v->kind == ATEN_TENSOR && !foreign_output(&r->f, aten_latest(&r->t, v->id)))
        return err_no_memory(r->f.err);
    bool many = v->kind == ATEN_LIST || v->kind == ATEN_DICT;
    if (++r->steps > SCRIPT_MAX_STEPS)
        return script_stop(r, "too many outputs");
    for (uint32_t i = 0; many && depth < 16 && i < v->list->v.n; i++)
        TRY(add_outputs(r, &v->list->v.items[i], depth + 1));
    return ASSAY_OK;
}

/* ---- trials ---- */

/* Where the most usual size fits and nothing was chosen by it, sizes are left open: the analysis assumes them then, and
 * other ones may be set. */
static void open_sizes(script_run *r, uint32_t input)
{
    const script_need *need = &r->s->needs[input];
    ir_value *v = ir_value_at(r->f.m, r->inputs[input]);
    int rank = v->declared.rank, fixed = need->axis < 0 ? rank - 1 : need->axis;
    ir_dim *dims = rank > 0
                       ? arena_copy(r->f.m->arena, v->declared.dims, (size_t)rank * sizeof *dims)
                       : NULL;
    for (int d = 0; dims && d < rank; d++)
        if (d != fixed || need->tokens)
            dims[d] = (ir_dim){.value = -1, .symbol = d == 0 ? STR("batch") : (str){0}};
    if (dims)
        v->declared.dims = dims;
}

/* Whether a branch was chosen by a size that no operator fixes. */
static bool is_branched(const script_run *r)
{
    bool free = r->branched;
    for (uint32_t i = 0; i < r->n_inputs; i++) {
        const script_need *need = &r->s->needs[i];
        int fixed = need->axis < 0 ? ir_value_at(r->f.m, r->inputs[i])->declared.rank - 1
                                   : need->axis;
        bool known = need->rank && !need->tokens && fixed >= 0;
        free |= (r->closed[i] & ~(known ? (uint64_t)1 << fixed : 0)) != 0;
    }
    return free;
}

static void note_inputs(script_run *r, const script_trial *t)
{
    bool known = r->s->needs[0].rank != 0 && !r->s->needs[0].closed, branched = is_branched(r);
    if (t->first && known && !r->t.fixed && !branched) {
        for (uint32_t i = 0; i < r->n_inputs; i++)
            open_sizes(r, i);
        return;
    }
    for (uint32_t i = 0; i < r->n_inputs; i++)
        note_input(r, r->inputs[i]);
    if (r->t.fixed || branched)
        notes_add(&r->f.m->notes, "size-fixed", (str){0}, NULL,
                  "Parts of the graph were chosen by the assumed sizes of the inputs. With other "
                  "sizes, check the result.");
    r->f.m->input_assumed = true;
}

static assay_status follow(script_run *r, const script_trial *t)
{
    script_file *f = NULL;
    aten_value args[SCRIPT_MAX_INPUTS], out;
    uint32_t n = 0;
    r->files = weights_bind_sources(r->f.m, &r->s->src, 1);
    TRY_MEMORY(r->files && aten_begin(&r->t, &r->f) && map_init(&r->constants, r->f.scratch, 256),
               r->f.err);
    str name = r->s->module->of->text;
    r->line_of = name;
    TRY(script_file_of(r->s, name, &f));
    const script_class *c = f ? script_class_of(f, name) : NULL;
    const script_function *forward = c ? script_method(c, "forward") : NULL;
    if (!forward)
        return script_stop(r, "the module has no forward function");
    TRY(make_args(r, forward, t, args, &n));
    TRY(script_forward(r, args, n, &out));
    if (t->probing)
        return ASSAY_OK;
    aten_info(&r->t, r->inputs[0]);
    if (r->t.contradiction.code != ASSAY_OK)
        return *r->f.err = r->t.contradiction, r->f.err->code;
    TRY(add_outputs(r, &out, 0));
    if (!ir_graph_at(r->f.m, 0)->outputs.n)
        return script_stop(r, "forward returns no tensor");
    TRY(add_unread(r));
    note_inputs(r, t);
    notes_join(&r->f.m->notes, &r->s->set->notes);
    return ASSAY_OK;
}

static assay_status try_sizes(script_archive *s, const script_trial *t, size_t limit,
                              ir_model **out, assay_error *err)
{
    script_run *r = ARENA_NEW(s->a, script_run);
    TRY_MEMORY(r, err);
    r->s = s;
    r->probing = t->probing;
    s->err = err;
    assay_status status = foreign_new(&r->f, "torchscript", s->src, limit, err);
    if (status == ASSAY_OK)
        status = follow(r, t);
    if (t->probing && status == ASSAY_OK)
        status = ASSAY_ERR_UNSUPPORTED; /* only the needs are wanted */
    status = foreign_done(&r->f, status, out);
    if (status != ASSAY_OK)
        return status;
    status = weights_bind_end(*out, r->files, err);
    if (status != ASSAY_OK) {
        (*out)->reader = (ir_reader){0};
        ir_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* Runs with inputs of several ranks, until an operator says what it takes. */
static assay_status probe(script_archive *s, size_t limit, assay_error *err)
{
    static const int ranks[] = {-1, 4, 2, 3, 5};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks && !s->needs[0].rank; i++) {
        assay_error ignored = {0};
        ir_model *none = NULL;
        const script_trial t = {.probing = true, .rank = ranks[i]};
        if (try_sizes(s, &t, limit, &none, &ignored) == ASSAY_ERR_SYSTEM) {
            *err = ignored;
            return ignored.code;
        }
    }
    return ASSAY_OK;
}

/* The trials in order. Dense layers take any rank: the usual one first, which is that of a sequence where there is
 * attention. Images and sequences have a side. */
static uint32_t list_trials(const script_archive *s, script_trial *list)
{
    static const int16_t sides[] = {224, 640, 256, 32,  28,  64,  128, 96,  299, 512, 84,  48,  16,
                                    8,   4,   112, 160, 192, 320, 384, 416, 448, 480, 100, 200, 300,
                                    240, 150, 80,  60,  50,  40,  36,  24,  20,  14,  12,  10};
    static const int extras[2][4] = {{0, 1, -1, 2}, {1, 0, 2, -1}}, normals[] = {0, 2, 3, 5};
    enum { SIDES = sizeof sides / sizeof *sides };
    bool dense = s->needs[0].rank != 0;
    uint32_t n = 0;
    for (int i = 0; i < SCRIPT_MAX_INPUTS; i++)
        dense &= !s->needs[i].rank || s->needs[i].axis == -1 || s->needs[i].tokens;
    for (int i = 0; dense && i < 4; i++)
        list[n++] = (script_trial){.side = 16, .extra = extras[s->sequence][i]};
    for (int k = 0; k < (s->needs[0].any ? 4 : 1); k++)
        for (int i = 0; !dense && i < SIDES && n < SCRIPT_MAX_TRIALS; i++)
            list[n++] = (script_trial){.side = sides[i], .normal = normals[k]};
    return n;
}

/* The first error is reported, which is that of the most usual size. */
static assay_status find_sizes(script_archive *s, size_t limit, ir_model **out, assay_error *err)
{
    script_trial trials[SCRIPT_MAX_TRIALS];
    assay_error later;
    assay_status first = ASSAY_OK;
    TRY(probe(s, limit, err));
    uint32_t n = list_trials(s, trials);
    for (uint32_t i = 0; i < n; i++) {
        trials[i].first = i == 0;
        err_clear(&later);
        assay_status status = try_sizes(s, &trials[i], limit, out, i ? &later : err);
        if (status != ASSAY_OK && i == 0)
            first = status;
        if (status == ASSAY_OK)
            err_clear(err);
        if (status == ASSAY_ERR_SYSTEM && i)
            *err = later;
        if (status == ASSAY_OK || status == ASSAY_ERR_SYSTEM)
            return status;
    }
    return first;
}

assay_status script_read(source *src, const char *path, size_t limit, ir_model **out,
                         assay_error *err)
{
    script_archive s = {.src = src, .err = err};
    (void)path;
    s.a = arena_new(ARCHIVE_BYTES);
    assay_status status = s.a ? open_archive(&s) : err_no_memory(err);
    if (status == ASSAY_OK)
        status = find_sizes(&s, limit, out, err);
    arena_free(s.a);
    return status;
}
