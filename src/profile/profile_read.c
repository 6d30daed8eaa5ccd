/* A result read back; see profile_read.h. The tables name the keys of profile_json.c; a new section is a row
 * of `sections`. Numbers that follow from others (gflops, model_size_mb, image_size, ...) are not read: they
 * are made again when the profile is written.
 */
#include "profile/profile_read.h"

#include <stdlib.h>

#include "base/sbuf.h"
#include "base/text.h"
#include "profile/profile_read_impl.h"

/* What is written is the last row, "assay.profile/1". A major version has a row for as long as it can be read; a
 * minor one only adds keys, which older programs skip with a note. */
typedef struct schema_version {
    int64_t major, newest_minor;
    const read_table *root;
} schema_version;

/* ---- tables ---- */

static const read_row host_rows[] = {
    ROW_STR(doc, "os", p.context.os),
    ROW_STR(doc, "machine", p.context.machine),
    ROW_STR(doc, "cpu", p.context.cpu),
    ROW_U64(doc, "cores", p.context.cores),
    ROW_U64(doc, "memory_bytes", p.context.memory_bytes),
};
static const read_table host_table = {READ_TABLE(host_rows)};

static const read_row setting_rows[] = {
    ROW_STR(profile_setting, "key", key),
    ROW_STR(profile_setting, "value", value),
};
static const read_table setting_table = {READ_TABLE(setting_rows), .size = sizeof(profile_setting)};

static const read_row engine_rows[] = {
    ROW_STR(doc, "name", m.engine.name),
    ROW_STR(doc, "title", m.engine.title),
    ROW_STR(doc, "version", m.engine.version),
    ROW_STR(doc, "library", m.engine.library),
    ROW_STR(doc, "device", m.engine.device),
    {.key = "threads", .kind = READ_INT, .at = offsetof(doc, m.engine.threads)},
    {.key = "opt_level", .kind = READ_INT, .at = offsetof(doc, m.engine.opt_level)},
    ROW_BOOL(doc, "spin", m.engine.spin),
    ROW_LIST(doc, "provider_options", m.engine.settings, m.engine.n_settings, setting_table),
    ROW_U64(doc, "concurrency", m.concurrency),
    ROW_F64(doc, "rate", m.rate, NULL_ZERO),
    ROW_U64(doc, "seed", m.seed),
    ROW_BOOL(doc, "interleaved", m.interleaved),
};
static const read_table engine_table = {READ_TABLE(engine_rows),
                                        .present = 1 + offsetof(doc, has_engine)};

static const read_row context_rows[] = {
    ROW_STR(doc, "tool_version", p.context.tool_version),
    ROW_STR(doc, "timestamp", p.context.timestamp),
    ROW_STR(doc, "command", p.context.command),
    ROW_INLINE("host", host_table),
    ROW_INLINE("engine", engine_table),
    ROW_STR(doc, "governor", m.governor),
    ROW_STR(doc, "model_sha256", p.context.model_sha256),
};
const read_table read_context_table = {READ_TABLE(context_rows)};

static bool read_input_shapes(reader *r, void *base)
{
    doc *d = base;
    profile_tensor *items = NULL;
    uint32_t cap = 0;
    str key;
    if (!scan_open(&r->s, '{'))
        return false;
    while (scan_key(&r->s, &key)) {
        profile_tensor *t = read_push(r, (void **)&items, &d->n_shapes, &cap,
                                      sizeof(profile_tensor));
        if (!t || !read_enter(r, key, 0))
            return false;
        *t = (profile_tensor){.name = str_copy(r->arena, key), .kind = "tensor"};
        if (!t->name.p)
            return read_no_memory(r);
        if (!read_shape(r, &t->shape))
            return false;
        read_leave(r);
    }
    d->shapes = items;
    return !r->s.failed;
}

static const read_row batch_axis_rows[] = {
    ROW_STR(profile_batch_axis, "input", input),
    ROW_I64(profile_batch_axis, "axis", axis, NULL_MINUS_ONE),
};
static const read_table batch_axis_table = {READ_TABLE(batch_axis_rows),
                                            .size = sizeof(profile_batch_axis)};
static const read_row batch_rule_rows[] = {
    ROW_BOOL(profile_batch, "present", present),
    ROW_WORD(profile_batch, "certainty", certainty),
    ROW_STR(profile_batch, "why", why),
    ROW_LIST(profile_batch, "axes", axes, n_axes, batch_axis_table),
};
static const read_table batch_rule_table = {READ_TABLE(batch_rule_rows)};

static const read_row config_rows[] = {
    ROW_STR(doc, "model", p.model),
    ROW_STR(doc, "format", p.format),
    ROW_STR(doc, "device", p.device),
    ROW_STR(doc, "config_file", p.config_file),
    ROW_STR(doc, "precision", precision),
    ROW_STR(doc, "weighed_as", p.precision),
    ROW_NUMBERS(doc, "batch_sizes", READ_U64S, batch_sizes, n_batch_sizes),
    ROW_OBJECT(doc, "batch", p.batch, batch_rule_table),
    ROW_I64(doc, "ir_version", p.ir_version, NULL_ZERO),
    ROW_I64(doc, "opset", p.opset, NULL_ZERO),
    ROW_STR(doc, "producer", p.producer),
    ROW_CALL("input_shapes", read_input_shapes),
    ROW_LIST(doc, "inputs", p.inputs, p.n_inputs, read_tensor_table),
    ROW_LIST(doc, "outputs", p.outputs, p.n_outputs, read_tensor_table),
};
static const read_table config_table = {READ_TABLE(config_rows)};

static const read_row dtype_rows[] = {
    ROW_U64(profile_bytes_by_dtype, "elements", elements),
    ROW_U64(profile_bytes_by_dtype, "bytes", bytes),
};
static const read_table dtype_table = {READ_TABLE(dtype_rows),
                                       .size = sizeof(profile_bytes_by_dtype),
                                       .name_at = offsetof(profile_bytes_by_dtype, name)};

static const read_row architecture_rows[] = {
    ROW_U64(profile_architecture, "total_parameters", total_parameters),
    ROW_U64(profile_architecture, "trainable_parameters", trainable_parameters),
    ROW_U64(profile_architecture, "buffers", buffers),
    ROW_U64(profile_architecture, "parameters_not_in_graph", parameters_not_in_graph),
    ROW_U64(profile_architecture, "weight_bytes", weight_bytes),
    ROW_U64(profile_architecture, "file_size_bytes", file_size_bytes),
    ROW_U64(profile_architecture, "flops", flops),
    ROW_U64(profile_architecture, "macs", macs),
    ROW_U64(profile_architecture, "causal_macs", causal_macs),
    ROW_U64(profile_architecture, "operators", operators),
    ROW_MAP(profile_architecture, "weights_by_dtype", dtypes, n_dtypes, dtype_table),
};
static const read_table architecture_table = {READ_TABLE(architecture_rows)};

static const read_row cost_rows[] = {
    ROW_U64(profile_ops, "mac", mac),
    ROW_U64(profile_ops, "add", add),
    ROW_U64(profile_ops, "mul", mul),
    ROW_U64(profile_ops, "div", div),
    ROW_U64(profile_ops, "special", special),
    ROW_U64(profile_ops, "cmp", cmp),
    ROW_U64(profile_ops, "int_ops", int_ops),
    ROW_U64(profile_ops, "attention_qk_mac", mac_qk),
    ROW_U64(profile_ops, "attention_av_mac", mac_av),
};
static const read_table cost_table = {READ_TABLE(cost_rows)};

/* A word stands where the profile has a flag. */
static bool read_certainty(reader *r, void *base)
{
    str s;
    if (!scan_str(&r->s, &s))
        return false;
    ((profile_item *)base)->unknown = str_is(s, "unknown");
    return true;
}

static const read_row item_rows[] = {
    ROW_STR(profile_item, "node", node),
    ROW_STR(profile_item, "op", op),
    ROW_STR(profile_item, "reason", reason),
    ROW_CALL("certainty", read_certainty),
};
static const read_table item_table = {READ_TABLE(item_rows), .size = sizeof(profile_item)};

static const read_row accounting_rows[] = {
    ROW_U64(doc, "nodes", p.accounting.nodes),
    ROW_U64(doc, "exact", p.accounting.exact),
    ROW_U64(doc, "assumed", p.accounting.assumed),
    ROW_U64(doc, "unknown", p.accounting.unknown),
    ROW_U64(doc, "folded", p.accounting.folded),
    ROW_BOOL(doc, "anything_assumed", p.anything_assumed),
    ROW_BOOL(doc, "weights_differ", p.weights_differ),
    ROW_BOOL(doc, "architecture_changed", p.architecture_changed),
    ROW_LIST(doc, "items", p.accounting.items, p.accounting.n_items, item_table),
};
static const read_table accounting_table = {READ_TABLE(accounting_rows)};

static const read_row operation_rows[] = {
    ROW_STR(profile_operation, "type", type),
    ROW_U64(profile_operation, "count", count),
    ROW_U64(profile_operation, "flops", flops),
    ROW_U64(profile_operation, "macs", macs),
    ROW_U64(profile_operation, "memory", memory),
    ROW_U64(profile_operation, "parameters", parameters),
    ROW_F64(profile_operation, "percent", percent, NULL_NAN),
};
static const read_table operation_table = {READ_TABLE(operation_rows),
                                           .size = sizeof(profile_operation)};

static const read_row bottleneck_rows[] = {
    ROW_F64(profile_bottlenecks, "threshold", threshold, NULL_NAN),
    ROW_STR(profile_bottlenecks, "hardware", hardware),
    ROW_F64(profile_bottlenecks, "compute_bound_percent", compute_bound_percent, NULL_NAN),
    ROW_F64(profile_bottlenecks, "memory_bound_percent", memory_bound_percent, NULL_NAN),
    ROW_F64(profile_bottlenecks, "compute_bound_layers_percent", compute_bound_layers_percent,
            NULL_NAN),
    ROW_F64(profile_bottlenecks, "memory_bound_layers_percent", memory_bound_layers_percent,
            NULL_NAN),
};
static const read_table bottleneck_table = {READ_TABLE(bottleneck_rows)};

static const read_row advice_rows[] = {
    ROW_WORD(profile_advice, "id", id),
    ROW_STR(profile_advice, "title", title),
    ROW_STR(profile_advice, "why", why),
    ROW_STR(profile_advice, "expected", expected),
};
static const read_table advice_table = {READ_TABLE(advice_rows), .size = sizeof(profile_advice)};

static bool note_has_code(reader *r, void *base)
{
    (void)r;
    note *n = base;
    n->code = n->code ? n->code : "";
    return true;
}

static const read_row note_rows[] = {
    ROW_WORD(note, "code", code),
    ROW_STR(note, "node", node),
    ROW_STR(note, "text", text),
    ROW_STR(note, "advice", advice),
};
static const read_table note_table = {READ_TABLE(note_rows), .size = sizeof(note),
                                      .finish = note_has_code};

static const read_row choice_rows[] = {
    ROW_U64(profile_batch_choice, "batch", batch),
    ROW_STR(profile_batch_choice, "precision", precision),
    ROW_F64(profile_batch_choice, "samples_per_second", samples_per_second, NULL_MINUS_ONE),
    ROW_U64(profile_batch_choice, "fastest_batch", fastest_batch),
    ROW_STR(profile_batch_choice, "fastest_precision", fastest_precision),
    ROW_F64(profile_batch_choice, "fastest_samples_per_second", fastest_samples_per_second,
            NULL_MINUS_ONE),
    ROW_U64(profile_batch_choice, "memory_available_bytes", room_bytes),
    ROW_STR(profile_batch_choice, "why", why),
};
static const read_table choice_table = {READ_TABLE(choice_rows)};

static const read_row sections[] = {
    ROW_STR(doc, "schema", schema),
    ROW_STR(doc, "model", p.model),
    ROW_STR(doc, "lens", p.lens),
    ROW_INLINE("context", read_context_table),
    ROW_INLINE("config", config_table),
    ROW_OBJECT(doc, "architecture", p.architecture, architecture_table),
    ROW_U64(doc, "total_flops", p.total_flops),
    ROW_U64(doc, "total_macs", p.total_macs),
    ROW_U64(doc, "total_memory", p.total_memory),
    ROW_U64(doc, "total_parameters", p.total_parameters),
    ROW_U64(doc, "total_operators", p.total_operators),
    ROW_F64(doc, "arithmetic_intensity", p.arithmetic_intensity, NULL_NAN),
    ROW_OBJECT(doc, "cost", p.ops, cost_table),
    ROW_INLINE("accounting", accounting_table),
    ROW_LIST(doc, "operations", p.operations, p.n_operations, operation_table),
    ROW_OBJECT(doc, "bottlenecks", p.bottlenecks, bottleneck_table),
    ROW_CALL("layers", read_layers),
    ROW_CALL("modules", read_modules),
    ROW_MAP(doc, "values", p.values, p.n_values, read_tensor_table),
    ROW_OBJECT(doc, "memory_plan", p.memory_plan, read_memory_plan_table),
    ROW_OBJECT(doc, "training", p.training, read_training_table),
    ROW_OBJECT(doc, "inventory", p.inventory, read_inventory_table),
    ROW_OBJECT(doc, "single_image", single, read_batch_table),
    ROW_MAP(doc, "batch_profiling", batches, n_batches, read_batch_table),
    ROW_OBJECT(doc, "latency", top, read_latency_table),
    ROW_OBJECT(doc, "throughput", top, read_throughput_table),
    ROW_OBJECT(doc, "memory", top, read_resident_table),
    ROW_OBJECT(doc, "utilization", top, read_use_table),
    ROW_OBJECT(doc, "io", top, read_io_table),
    ROW_OBJECT(doc, "cold_start", top, read_cold_table),
    ROW_OBJECT(doc, "end_to_end", top, read_end_table),
    ROW_OBJECT(doc, "ledger", m.ledger, read_ledger_table),
    ROW_OBJECT(doc, "plan_check", m.plan, read_plan_table),
    ROW_OBJECT(doc, "ceilings", m.ceilings, read_ceilings_table),
    ROW_LIST(doc, "configurations", configs, n_configs, read_config_table),
    ROW_U64(doc, "recommended_batch", m.choice.batch),
    ROW_OBJECT(doc, "batch_choice", m.choice, choice_table),
    ROW_BOOL(doc, "interrupted", m.interrupted),
    ROW_STR(doc, "stopped", m.stopped),
    ROW_LIST(doc, "devices", places, n_places, read_place_table),
    ROW_INLINE("map", read_map_table),
    ROW_LIST(doc, "groups", fusion.groups, fusion.n_groups, read_group_table),
    ROW_INLINE("fusion", read_fusion_table),
    ROW_CALL("patterns", read_patterns),
    ROW_OBJECT(doc, "watch", watch, read_watch_table),
    ROW_OBJECT(doc, "gpu", gpu, read_gpu_table),
    ROW_LIST(doc, "recommendations", p.recommendations, p.n_recommendations, advice_table),
    ROW_LIST(doc, "warnings", p.warnings.list.items, p.warnings.list.n, note_table),
    {.key = "warnings_dropped", .kind = READ_U32, .at = offsetof(doc, p.warnings.dropped)},
};
static const read_table root_table = {READ_TABLE(sections)};

/* ---- the end ---- */

/* What most of the weights are is told by the weights, so only another word is something that was asked. */
static void finish_precision(doc *d)
{
    if (!d->p.precision.n && d->precision.n && !str_eq(profile_precision(&d->p), d->precision))
        d->p.precision = d->precision;
}

static bool finish(reader *r, doc *d)
{
    profile *p = &d->p;
    finish_precision(d);
    if (!p->n_inputs) {
        p->inputs = d->shapes;
        p->n_inputs = d->n_shapes;
    }
    for (uint32_t i = 0; i < p->architecture.n_dtypes; i++) {
        profile_bytes_by_dtype *t = (profile_bytes_by_dtype *)(uintptr_t)&p->architecture.dtypes[i];
        t->dtype = ir_dtype_by_name(t->name);
    }
    p->anything_assumed |= p->accounting.assumed || p->accounting.unknown || p->inventory.present;
    p->warnings.list.cap = p->warnings.list.n;
    return read_finish_gpu(r, d) && read_finish_measured(r, d) && read_finish_map(r, d) &&
           read_finish_fusion(r, d) && read_finish_watch(r, d);
}

/* "layers[3].flops: " */
static void put_path(const reader *r, sbuf *b)
{
    for (uint32_t i = 0; i < r->depth; i++)
        if (r->path[i].key.p) {
            sbuf_puts(b, i ? "." : "");
            text_safe(b, r->path[i].key);
        } else {
            sbuf_printf(b, "[%llu]", (unsigned long long)r->path[i].index);
        }
    if (r->depth)
        sbuf_puts(b, ": ");
}

assay_status read_failed(const reader *r, const char *shown, uint64_t offset, assay_error *err)
{
    sbuf path = {0};
    if (r->no_memory || arena_failed(r->arena) || arena_failed(r->s.arena))
        return err_no_memory(err);
    put_path(r, &path);
    assay_status s = err_fail_at(err, ASSAY_ERR_MALFORMED, offset,
                                 "'%s' is not a result that can be read: %s%s", shown,
                                 sbuf_cstr(&path), r->s.what ? r->s.what : "");
    sbuf_free(&path);
    return s;
}

/* ---- what a document says it is ---- */

const char *profile_schema_what(str name)
{
    static const struct {
        const char *name, *what;
    } kinds[] = {
        {"assay.profile", "a result"},
        {"assay.pipeline", "a pipeline's result"},
        {"assay.pipelines", "several pipelines' results"},
        {"assay.scaling", "a scaling"},
        {"assay.model", "a model's description"},
        {"assay.language", "a language model's result"},
        {"assay.comparison", "a comparison"},
        {"assay.validation", "a validation"},
        {"assay.machine", "a machine's calibration"},
        {"assay.check", "a check's verdict"},
        {"assay.history", "an exported history"},
        {"assay.runs", "a list of runs"},
        {"assay.models", "a list of models"},
        {"assay.trend", "a trend"},
        {"assay.capacity", "a plan of capacity"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(name, kinds[i].name))
            return kinds[i].what;
    return NULL;
}

/* "assay.profile/1.2": name, major, minor. What is no number is version 0, which nobody reads. */
static void split_schema(str s, profile_schema *out)
{
    uint32_t cut = 0;
    char *end = NULL;
    while (cut < s.n && s.p[cut] != '/')
        cut++;
    out->name = (str){s.p, cut};
    out->major = cut < s.n ? strtol(s.p + cut + 1, &end, 10) : 0;
    out->minor = end && *end == '.' ? strtol(end + 1, NULL, 10) : 0;
}

assay_status profile_schema_of(str text, const char *shown, arena *a, profile_schema *out,
                               assay_error *err)
{
    assay_error own = {0};
    json_scan s = scan_text(text, 0, shown, a, &own);
    str key, value;
    *out = (profile_schema){0};
    s.nul = true;
    if (!scan_is(&s, '{'))
        return err_fail(err, ASSAY_ERR_MALFORMED, "'%s' is not a JSON object.", shown);
    scan_open(&s, '{');
    while (scan_key(&s, &key)) {
        if (!str_is(key, "schema")) {
            scan_skip(&s);
            continue;
        }
        if (!scan_str(&s, &value))
            break;
        value = str_copy(a, value);
        if (!value.p)
            return err_no_memory(err);
        split_schema(value, out);
        return ASSAY_OK;
    }
    if (s.failed)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, own.offset, "'%s' is not valid JSON: %s",
                           shown, s.what ? s.what : "");
    return ASSAY_OK;
}

static const schema_version versions[] = {{.major = 1, .newest_minor = 0, .root = &root_table}};
enum { N_VERSIONS = sizeof versions / sizeof *versions };

static const schema_version *find_version(int64_t major)
{
    for (int i = 0; i < N_VERSIONS; i++)
        if (versions[i].major == major)
            return &versions[i];
    return NULL;
}

static assay_status check_schema(str text, const char *shown, arena *a, profile_schema *is,
                                 assay_error *err)
{
    char name[40];
    TRY(profile_schema_of(text, shown, a, is, err));
    text_safe_into(name, sizeof name, is->name);
    const char *what = profile_schema_what(is->name);
    if (!is->name.n)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "'%s' is JSON but no result of assay: it has no \"schema\". Results are "
                        "written with -o FILE.json.",
                        shown);
    if (!str_is(is->name, "assay.profile"))
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "'%s' is %s (\"%s\"), not a result of a model (\"assay.profile\").", shown,
                        what ? what : "another document", name);
    if (!find_version(is->major))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "'%s' is of version %lld of the schema, and this assay reads up to version "
                        "%lld: a newer one may have written it.",
                        shown, (long long)is->major, (long long)versions[N_VERSIONS - 1].major);
    return ASSAY_OK;
}

static void note_newer(profile *p, const profile_schema *is, const schema_version *v)
{
    if (is->minor > v->newest_minor)
        notes_add(
            &p->warnings, "newer-schema", (str){0}, "A newer assay shows all of it.",
            "The result is of schema %lld.%lld, and %lld.%lld is known here: what it has beyond "
            "that was skipped.",
            (long long)is->major, (long long)is->minor, (long long)v->major,
            (long long)v->newest_minor);
}

static assay_status read_all(str text, const char *shown, arena *scratch, profile *p,
                             assay_error *err)
{
    assay_error own = {0};
    doc *d = ARENA_NEW(scratch, doc);
    reader *r = ARENA_NEW(scratch, reader);
    if (!d || !r)
        return err_no_memory(err);
    profile_schema is;
    TRY(check_schema(text, shown, scratch, &is, err));
    const schema_version *v = find_version(is.major);
    *d = (doc){.p = *p, .top = DOC_CONFIG_START};
    r->s = scan_text(text, 0, shown, scratch, &own);
    r->s.nul = true;
    r->arena = p->arena;
    if (!read_object(r, v->root, d) || !scan_end(&r->s) || !finish(r, d))
        return read_failed(r, shown, own.offset, err);
    *p = d->p;
    note_newer(p, &is, v);
    return ASSAY_OK;
}

assay_status profile_read(str text, const char *shown, size_t limit_bytes, profile **out,
                          assay_error *err)
{
    arena *scratch = arena_new(limit_bytes);
    profile *p = profile_new(limit_bytes);
    /* A byte order mark is no part of the text. */
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        text = (str){text.p + 3, text.n - 3};
    *out = NULL;
    assay_status s = scratch && p ? read_all(text, shown, scratch, p, err) : err_no_memory(err);
    arena_free(scratch);
    if (s == ASSAY_OK)
        *out = p;
    else
        profile_free(p);
    return s;
}
