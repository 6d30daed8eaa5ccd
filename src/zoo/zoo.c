/* Finding an architecture by name and building it into a model. */
#include "zoo/zoo.h"

#include <strings.h>

#include "base/near.h"
#include "base/sbuf.h"
#include "zoo/nn_impl.h"

/* ---- names ---- */

uint32_t zoo_count(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < zoo_table_n; i++)
        n += zoo_table[i]->n;
    return n;
}

const zoo_row *zoo_at(uint32_t index)
{
    for (uint32_t i = 0; i < zoo_table_n; i++) {
        if (index < zoo_table[i]->n)
            return &zoo_table[i]->rows[index];
        index -= zoo_table[i]->n;
    }
    return NULL;
}

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' || c == '.' ? '_' : c;
}

static bool same_name(str a, str b)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (plain(a.p[i]) != plain(b.p[i]))
            return false;
    return true;
}

/* The next word of a space separated list; false at its end. */
bool zoo_default(const zoo_row *row, const char *key, int64_t *out)
{
    bool found = false;
    uint64_t v;
    for (str rest = str_of(row->defaults), pair; str_split(&rest, ' ', &pair);) {
        str value = pair;
        if (str_is(str_cut(&value, '='), key) && str_take_u64(&value, &v) && v <= INT64_MAX) {
            *out = (int64_t)v;
            found = true;
        }
    }
    return found;
}

static bool next_word(const char **at, str *word)
{
    const char *p = *at;
    while (p && *p == ' ')
        p++;
    if (!p || !*p)
        return false;
    size_t n = strcspn(p, " ");
    *word = (str){p, (uint32_t)n};
    *at = p + n;
    return true;
}

/* "mobilenetv2" for mobilenet_v2: separators left out on either side. */
static bool same_letters(str a, str b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a.n && plain(a.p[i]) == '_')
            i++;
        while (k < b.n && plain(b.p[k]) == '_')
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n && a.n > 0;
        if (plain(a.p[i++]) != plain(b.p[k++]))
            return false;
    }
}

typedef bool same_fn(str a, str b);

static bool row_is(const zoo_row *row, str name, same_fn *same)
{
    const char *at = row->aliases;
    str word;
    if (same(str_of(row->name), name))
        return true;
    while (next_word(&at, &word))
        if (same(word, name))
            return true;
    return false;
}

/* *n counts all rows of that name. */
static const zoo_row *find_by(str name, same_fn *same, uint32_t *n)
{
    const zoo_row *found = NULL;
    *n = 0;
    for (uint32_t i = 0; i < zoo_table_n; i++) {
        for (uint32_t k = 0; k < zoo_table[i]->n; k++) {
            const zoo_row *row = &zoo_table[i]->rows[k];
            if (!row_is(row, name, same))
                continue;
            found = found ? found : row;
            ++*n;
        }
    }
    return found;
}

/* Without separators 1_6gf and 16gf are one, so that only a single answer counts. */
const zoo_row *zoo_find(str name)
{
    uint32_t n;
    const zoo_row *row = find_by(name, same_name, &n);
    if (!row)
        row = find_by(name, same_letters, &n);
    return n <= 1 || row_is(row, name, same_name) ? row : NULL;
}

/* ---- suggestions ---- */

static const char *row_name_at(uint32_t i, const void *task)
{
    const zoo_row *row = i < zoo_count() ? zoo_at(i) : NULL;
    return !row ? NULL : !task || strcmp(row->task, task) == 0 ? row->name : "";
}

uint32_t zoo_suggest(str name, const char *task, const char **out, uint32_t max)
{
    return near_names(name, row_name_at, task, out, max);
}

/* What well-known families that are not built in are for; the beginning of a name tells. */
static const struct {
    const char *begins, *task;
} strangers[] = {
    {"yolo", "detection"},           {"detr", "detection"},          {"rtdetr", "detection"},
    {"rt-detr", "detection"},        {"efficientdet", "detection"},  {"nanodet", "detection"},
    {"centernet", "detection"},      {"unet", "segmentation"},       {"segformer", "segmentation"},
    {"mask2former", "segmentation"}, {"pspnet", "segmentation"},     {"esrgan", "restoration"},
    {"realesrgan", "restoration"},   {"edsr", "restoration"},        {"wav2vec", "speech"},
    {"conformer", "speech"},         {"hubert", "speech"},           {"blip", "image-text"},
    {"kandinsky", "diffusion"},      {"slowfast", "video"},          {"timesformer", "video"},
    {"pwcnet", "optical_flow"},      {"nasnet", "classification"},   {"deit", "classification"},
    {"beit", "classification"},      {"ghostnet", "classification"},
};

const char *zoo_task_of_stranger(str name)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (name.n >= strlen(strangers[i].begins) &&
            strncasecmp(name.p, strangers[i].begins, strlen(strangers[i].begins)) == 0)
            return strangers[i].task;
    return NULL;
}

/* ---- building ---- */

static assay_status merge_args(nn *b, assay_error *err)
{
    const zoo_request *q = b->request;
    zoo_args_init(&b->args, b->scratch);
    if (q->row->defaults)
        TRY(zoo_args_parse(&b->args, str_of(q->row->defaults), true, err));
    for (uint32_t i = 0; q->set && i < q->set->list.n; i++) {
        const zoo_arg *arg = &q->set->list.items[i];
        TRY_MEMORY(zoo_args_put(&b->args, arg->key, arg->value, arg->is_default), err);
        zoo_arg *put = zoo_args_get(&b->args, arg->key.p);
        put->lenient = arg->lenient;
        put->silent = arg->silent;
    }
    return ASSAY_OK;
}

static bool prepare(nn *b)
{
    arena *m = b->model->arena;
    b->input_used = ARENA_ARRAY(b->scratch, uint8_t, (size_t)b->request->n_inputs + 1);
    b->model->name = str_of(b->request->row->name);
    b->model->format = STR("zoo");
    b->model->ir_version = 12;
    return b->input_used && ir_set_opset(b->model, STR(""), NN_OPSET) && !arena_failed(m) &&
           ir_kit_begin(&b->kit, b->model, b->scratch, 1024) &&
           map_init(&b->params, b->scratch, 512) && map_init(&b->dequantized, b->scratch, 0);
}

/* "it knows depth, num_classes, width_mult", without synonyms twice. */
static const char *known_keys(nn *b)
{
    sbuf s = {0};
    for (uint32_t i = 0; i < b->asked.n; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i; k++)
            seen = seen || strcmp(b->asked.items[k], b->asked.items[i]) == 0;
        if (!seen)
            sbuf_printf(&s, s.n ? ", %s" : "%s", b->asked.items[i]);
    }
    const char *text = arena_strdup(b->scratch, sbuf_cstr(&s));
    sbuf_free(&s);
    return text ? text : "";
}

static void check_keys(nn *b)
{
    const zoo_request *q = b->request;
    for (uint32_t i = 0; i < b->args.list.n; i++) {
        const zoo_arg *arg = &b->args.list.items[i];
        if (arg->used || arg->is_default || arg->silent)
            continue;
        if (q->lenient || arg->lenient)
            notes_add(&b->model->notes, "unknown-key", arg->key, NULL,
                      "The key '" STR_FMT "' is unknown to %s and was ignored.", STR_ARG(arg->key),
                      q->row->name);
        else
            nn_fail(b, "%s has no parameter '" STR_FMT "'. It has %s.", q->row->name,
                    STR_ARG(arg->key), known_keys(b));
    }
}

static void check_inputs(nn *b)
{
    const zoo_request *q = b->request;
    for (uint32_t i = 0; i < q->n_inputs; i++) {
        if (b->input_used[i])
            continue;
        if (str_empty(q->inputs[i].name))
            nn_fail(b, "too many input shapes: %s has %u inputs", q->row->name, b->n_inputs);
        else
            nn_fail(b, "%s has no input '" STR_FMT "'", q->row->name, STR_ARG(q->inputs[i].name));
    }
}

static assay_status build_graph(nn *b, assay_error *err)
{
    TRY(merge_args(b, err));
    TRY_MEMORY(prepare(b), err);
    b->quantized = nn_bool(b, "quantize", false);
    b->request->row->build(b);
    nn_take_native(b);
    if (!b->failed)
        check_keys(b);
    if (!b->failed)
        check_inputs(b);
    if (b->failed)
        return b->refused ? ASSAY_ERR_UNSUPPORTED : ASSAY_ERR_USAGE;
    return arena_failed(b->model->arena) || arena_failed(b->scratch) ? err_no_memory(err)
                                                                     : ASSAY_OK;
}

assay_status zoo_build(const zoo_request *q, ir_model **out, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    nn b = {.request = q, .err = err ? err : &own};
    size_t limit = q->memory_limit ? q->memory_limit : SIZE_MAX;
    *out = NULL;
    TRY(ir_model_new(limit, &b.model, b.err));
    b.scratch = arena_new(limit);
    assay_status status = b.scratch ? build_graph(&b, b.err) : err_no_memory(b.err);
    arena_free(b.scratch);
    if (status != ASSAY_OK) {
        ir_model_free(b.model);
        return status;
    }
    *out = b.model;
    return ASSAY_OK;
}
