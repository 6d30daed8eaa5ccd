/* The JSON document "assay.profile/1": docs/json.md explains every key, docs/schema/ holds its JSON
 * Schema. Key order is fixed, so that two results can be compared line by line; a layer, a value, a
 * module and a moment of the memory plan take one line each.
 *
 * What is not known is null (a dimension, a shape, a type); what was not asked for is absent.
 */
#include "profile/profile_json.h"

/* ---- context and config ---- */

static void put_host(json_writer *w, const profile_context *c)
{
    json_key(w, "host");
    json_object(w);
    key_str_or_null(w, "os", c->os);
    key_str_or_null(w, "machine", c->machine);
    key_str_or_null(w, "cpu", c->cpu);
    key_u64(w, "cores", c->cores);
    key_u64(w, "memory_bytes", c->memory_bytes);
    json_end(w);
}

void profile_json_context(json_writer *w, const profile *p)
{
    const profile_context *c = &p->context;
    json_key(w, "context");
    json_object(w);
    key_str(w, "tool_version", c->tool_version);
    key_str(w, "timestamp", c->timestamp);
    key_str_or_null(w, "command", c->command);
    put_host(w, c);
    profile_json_engine(w, p);
    if (p->measured && !str_empty(p->measured->governor))
        key_str(w, "governor", p->measured->governor);
    if (!str_empty(c->model_sha256))
        key_str(w, "model_sha256", c->model_sha256);
    json_end(w);
}

/* Side of the first image-like input: four dimensions, one to four of them channels. One number when
 * the image is square, else [height, width]; absent when no input is an image. */
static void put_image_size(json_writer *w, const profile *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_shape *s = &p->inputs[i].shape;
        if (s->rank != 4)
            continue;
        const int64_t *d = s->dims;
        int first = d[1] >= 1 && d[1] <= 4 ? 2 : d[3] >= 1 && d[3] <= 4 ? 1 : 0;
        if (!first || d[first] < 1 || d[first + 1] < 1)
            continue;
        json_key(w, "image_size");
        if (d[first] == d[first + 1]) {
            json_i64(w, d[first]);
            return;
        }
        json_flat_array(w);
        json_i64(w, d[first]);
        json_i64(w, d[first + 1]);
        json_end(w);
        return;
    }
}

static void put_precision(json_writer *w, const profile *p)
{
    str precision = profile_precision(p);
    json_key(w, "precision");
    if (precision.n)
        json_str(w, precision);
    else
        put_dtype(w, IR_UNDEFINED);
}

static void put_tensors(json_writer *w, const char *key, const profile_tensor *t, uint32_t n)
{
    json_key(w, key);
    json_array(w);
    for (uint32_t i = 0; i < n; i++) {
        json_flat_object(w);
        key_str(w, "name", t[i].name);
        put_value(w, &t[i]);
        json_end(w);
    }
    json_end(w);
}

static void put_batch(json_writer *w, const profile_batch *b)
{
    if (!b->certainty)
        return;
    json_key(w, "batch");
    json_object(w);
    key_bool(w, "present", b->present);
    key_cstr(w, "certainty", b->certainty);
    key_str(w, "why", b->why);
    json_key(w, "axes");
    json_array(w);
    for (uint32_t i = 0; i < b->n_axes; i++) {
        json_flat_object(w);
        key_str(w, "input", b->axes[i].input);
        json_key(w, "axis");
        if (b->axes[i].axis >= 0)
            json_i64(w, b->axes[i].axis);
        else
            json_null(w);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_config(json_writer *w, const profile *p)
{
    json_key(w, "config");
    json_object(w);
    key_str(w, "model", p->model);
    key_str(w, "format", p->format);
    put_image_size(w, p);
    key_str_or_null(w, "device", p->device);
    key_str_or_null(w, "config_file", p->config_file);
    put_precision(w, p);
    if (!str_empty(p->precision))
        key_str(w, "weighed_as", p->precision);
    profile_json_batch_sizes(w, p);
    put_batch(w, &p->batch);
    key_i64(w, "ir_version", p->ir_version);
    key_i64(w, "opset", p->opset);
    key_str_or_null(w, "producer", p->producer);
    json_key(w, "input_shapes");
    json_flat_object(w);
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        json_key_str(w, p->inputs[i].name);
        put_shape(w, &p->inputs[i].shape);
    }
    json_end(w);
    put_tensors(w, "inputs", p->inputs, p->n_inputs);
    put_tensors(w, "outputs", p->outputs, p->n_outputs);
    json_end(w);
}

/* ---- totals ---- */

static void put_architecture(json_writer *w, const profile *p)
{
    const profile_architecture *a = &p->architecture;
    json_key(w, "architecture");
    json_object(w);
    key_u64(w, "total_parameters", a->total_parameters);
    key_u64(w, "trainable_parameters", a->trainable_parameters);
    key_u64(w, "buffers", a->buffers);
    if (a->parameters_not_in_graph)
        key_u64(w, "parameters_not_in_graph", a->parameters_not_in_graph);
    key_f64(w, "model_size_mb", (double)a->weight_bytes / 1048576.0);
    key_u64(w, "weight_bytes", a->weight_bytes);
    key_u64(w, "file_size_bytes", a->file_size_bytes);
    key_u64(w, "flops", a->flops);
    key_f64(w, "gflops", (double)a->flops / 1e9);
    key_u64(w, "macs", a->macs);
    key_f64(w, "gmacs", (double)a->macs / 1e9);
    key_u64(w, "causal_macs", a->causal_macs);
    json_key(w, "flops_per_param");
    if (a->total_parameters)
        json_f64(w, (double)a->flops / (double)a->total_parameters);
    else
        json_null(w);
    key_u64(w, "operators", a->operators);
    json_key(w, "weights_by_dtype");
    json_object(w);
    for (uint32_t i = 0; i < a->n_dtypes; i++) {
        json_key_str(w, a->dtypes[i].name);
        json_flat_object(w);
        key_u64(w, "elements", a->dtypes[i].elements);
        key_u64(w, "bytes", a->dtypes[i].bytes);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_cost(json_writer *w, const profile_ops *o)
{
    json_key(w, "cost");
    json_flat_object(w);
    key_u64(w, "mac", o->mac);
    key_u64(w, "add", o->add);
    key_u64(w, "mul", o->mul);
    key_u64(w, "div", o->div);
    key_u64(w, "special", o->special);
    key_u64(w, "cmp", o->cmp);
    key_u64(w, "int_ops", o->int_ops);
    key_u64(w, "attention_qk_mac", o->mac_qk);
    key_u64(w, "attention_av_mac", o->mac_av);
    json_end(w);
}

static void put_totals(json_writer *w, const profile *p)
{
    key_u64(w, "total_flops", p->total_flops);
    key_u64(w, "total_macs", p->total_macs);
    key_u64(w, "total_memory", p->total_memory);
    key_u64(w, "total_parameters", p->total_parameters);
    key_u64(w, "total_operators", p->total_operators);
    key_f64(w, "arithmetic_intensity", p->arithmetic_intensity);
    put_cost(w, &p->ops);
}

static void put_accounting(json_writer *w, const profile *p)
{
    const profile_accounting *a = &p->accounting;
    json_key(w, "accounting");
    json_object(w);
    key_u64(w, "nodes", a->nodes);
    key_u64(w, "exact", a->exact);
    key_u64(w, "assumed", a->assumed);
    key_u64(w, "unknown", a->unknown);
    key_u64(w, "folded", a->folded);
    key_bool(w, "anything_assumed", p->anything_assumed);
    if (p->weights_differ)
        key_bool(w, "weights_differ", true);
    if (p->architecture_changed)
        key_bool(w, "architecture_changed", true);
    json_key(w, "items");
    json_array(w);
    for (uint32_t i = 0; i < a->n_items; i++) {
        const profile_item *item = &a->items[i];
        json_flat_object(w);
        key_str(w, "node", item->node);
        key_str(w, "op", item->op);
        key_str(w, "reason", item->reason);
        key_cstr(w, "certainty",
                 profile_certainty_name(item->unknown ? PROFILE_UNKNOWN : PROFILE_ASSUMED));
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_operations(json_writer *w, const profile *p)
{
    json_key(w, "operations");
    json_array(w);
    for (uint32_t i = 0; i < p->n_operations; i++) {
        const profile_operation *o = &p->operations[i];
        json_flat_object(w);
        key_str(w, "type", o->type);
        key_u64(w, "count", o->count);
        key_u64(w, "flops", o->flops);
        key_u64(w, "macs", o->macs);
        key_u64(w, "memory", o->memory);
        key_u64(w, "parameters", o->parameters);
        key_f64(w, "percent", o->percent);
        json_end(w);
    }
    json_end(w);
}

static void put_bottlenecks(json_writer *w, const profile_bottlenecks *b)
{
    json_key(w, "bottlenecks");
    json_object(w);
    key_f64(w, "threshold", b->threshold);
    if (!str_empty(b->hardware))
        key_str(w, "hardware", b->hardware);
    key_f64(w, "compute_bound_percent", b->compute_bound_percent);
    key_f64(w, "memory_bound_percent", b->memory_bound_percent);
    key_f64(w, "compute_bound_layers_percent", b->compute_bound_layers_percent);
    key_f64(w, "memory_bound_layers_percent", b->memory_bound_layers_percent);
    json_end(w);
}

/* ---- advice, warnings, the whole ---- */

static void put_recommendations(json_writer *w, const profile *p)
{
    json_key(w, "recommendations");
    json_array(w);
    for (uint32_t i = 0; i < p->n_recommendations; i++) {
        const profile_advice *a = &p->recommendations[i];
        json_object(w);
        key_cstr(w, "id", a->id);
        key_str(w, "title", a->title);
        key_str(w, "why", a->why);
        key_str(w, "expected", a->expected);
        json_end(w);
    }
    json_end(w);
}

static void put_warnings(json_writer *w, const notes *n)
{
    json_key(w, "warnings");
    json_array(w);
    for (uint32_t i = 0; i < n->list.n; i++) {
        const note *x = &n->list.items[i];
        json_flat_object(w);
        key_cstr(w, "code", x->code);
        key_str(w, "node", x->node);
        key_str(w, "text", x->text);
        key_str(w, "advice", x->advice);
        json_end(w);
    }
    json_end(w);
    if (n->dropped)
        key_u64(w, "warnings_dropped", n->dropped);
}

void profile_write_json(const profile *p, struct sbuf *out, int indent)
{
    json_writer w;
    json_begin(&w, out, indent);
    json_object(&w);
    key_cstr(&w, "schema", "assay.profile/1");
    key_str(&w, "model", p->model);
    key_str(&w, "lens", p->lens);
    profile_json_context(&w, p);
    put_config(&w, p);
    put_architecture(&w, p);
    put_totals(&w, p);
    put_accounting(&w, p);
    put_operations(&w, p);
    put_bottlenecks(&w, &p->bottlenecks);
    profile_json_layers(&w, p);
    profile_json_modules(&w, p);
    profile_json_values(&w, p);
    profile_json_memory_plan(&w, p);
    profile_json_training(&w, &p->training);
    profile_json_inventory(&w, &p->inventory);
    profile_json_measured(&w, p);
    profile_json_map(&w, p->mapping);
    profile_json_fusion(&w, p->fusion);
    profile_json_patterns(&w, p);
    profile_json_watch(&w, p->watch);
    put_recommendations(&w, p);
    put_warnings(&w, &p->warnings);
    json_end(&w);
    sbuf_putc(out, '\n');
}
