/* Reading a profile through the public structs. A caller's struct may be older and so smaller than
 * ours, or newer and larger: what both know is copied. */
#include "api/api.h"
#include "base/text.h"

void api_hand_out(void *out, const void *whole, size_t whole_size)
{
    size_t size;
    memcpy(&size, out, sizeof size);
    if (size <= sizeof size)
        return;
    size_t n = size < whole_size ? size : whole_size;
    memcpy((char *)out + sizeof size, (const char *)whole + sizeof size, n - sizeof size);
}

/* str_copy terminates what it copies, and every string of a profile is a copy or a literal. */
static const char *text(str s)
{
    return s.p ? s.p : "";
}

const char *assay_profile_model(const assay_result *of)
{
    return text(of->p->model);
}

void assay_profile_totals(const assay_result *of, assay_totals *out)
{
    const profile *p = of->p;
    assay_totals t = {
        .parameters = p->total_parameters,
        .trainable_parameters = p->architecture.trainable_parameters,
        .buffers = p->architecture.buffers,
        .flops = p->total_flops,
        .macs = p->total_macs,
        .memory_bytes = p->total_memory,
        .operators = p->total_operators,
        .weights_bytes = p->architecture.weight_bytes,
        .file_size_bytes = p->architecture.file_size_bytes,
        .activations_peak_bytes = p->memory_plan.activations_peak_bytes,
        .peak_bytes = p->memory_plan.peak_bytes,
        .lower_bound_bytes = p->memory_plan.lower_bound_bytes,
        .nodes_exact = p->accounting.exact,
        .nodes_assumed = p->accounting.assumed,
        .nodes_unknown = p->accounting.unknown,
        .arithmetic_intensity = p->arithmetic_intensity,
        .work_band = band_word(profile_bands_of(p).work),
    };
    HAND_OUT(out, t);
}

size_t assay_profile_layer_count(const assay_result *of)
{
    return of->p->n_layers;
}

bool assay_profile_layer(const assay_result *of, size_t index, assay_layer *out)
{
    if (index >= of->p->n_layers)
        return false;
    const profile_layer *l = &of->p->layers[index];
    assay_layer x = {
        .name = text(l->name),
        .op = text(l->op),
        .type = text(l->type),
        .module = text(l->module),
        .bottleneck = bound_words[l->compute_bound],
        .band = l->band ? l->band : "",
        .certainty = profile_certainty_name(l->certainty),
        .times = l->times,
        .parameters = l->parameters,
        .flops = l->flops,
        .macs = l->macs,
        .memory = l->memory,
        .read_bytes = l->read_bytes,
        .weight_bytes = l->weight_bytes,
        .written_bytes = l->written_bytes,
        .arithmetic_intensity = l->arithmetic_intensity,
        .n_inputs = l->n_inputs,
        .n_outputs = l->n_outputs,
        .time_ms = l->time_ms,
        .time_std_ms = l->time_std_ms,
        .percent_of_roof = profile_percent_of_roof(of->p, l),
    };
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_layer_attribute(const assay_result *of, size_t layer, size_t index,
                                   assay_attribute *out)
{
    const attribute_list *l = layer < of->p->n_layers ? &of->p->layers[layer].attributes : NULL;
    if (!l || index >= l->n)
        return false;
    assay_attribute x = {.name = text(l->items[index].name)};
    sbuf value = {0};
    attribute_text(&value, &l->items[index]);
    text_safe_into(x.value, sizeof x.value, (str){value.p, (uint32_t)value.n});
    sbuf_free(&value);
    HAND_OUT(out, x);
    return true;
}

static bool tensor_at(const profile_tensor *list, size_t n, size_t index, assay_tensor *out)
{
    if (index >= n)
        return false;
    const profile_tensor *t = &list[index];
    assay_tensor x = {
        .name = text(t->name),
        .dtype = t->dtype == IR_UNDEFINED ? "" : ir_dtype_get(t->dtype)->name,
        .rank = t->shape.rank,
        .dims = t->shape.dims,
    };
    HAND_OUT(out, x);
    return true;
}

bool assay_profile_batch(const assay_result *of, assay_batch *out)
{
    const profile_batch *b = &of->p->batch;
    const assay_batch x = {
        .present = b->present, .certainty = b->certainty ? b->certainty : "", .why = text(b->why)};
    HAND_OUT(out, x);
    return b->certainty != NULL;
}

int assay_profile_batch_axis(const assay_result *of, size_t input)
{
    const profile_batch *b = &of->p->batch;
    return input < b->n_axes ? (int)(b->axes[input].axis < 0 ? -1 : b->axes[input].axis) : -1;
}

bool assay_profile_input(const assay_result *of, size_t index, assay_tensor *out)
{
    return tensor_at(of->p->inputs, of->p->n_inputs, index, out);
}

bool assay_profile_layer_input(const assay_result *of, size_t layer, size_t index,
                               assay_tensor *out)
{
    const profile *p = of->p;
    return layer < p->n_layers &&
           tensor_at(p->layers[layer].inputs, p->layers[layer].n_inputs, index, out);
}

bool assay_profile_layer_output(const assay_result *of, size_t layer, size_t index,
                                assay_tensor *out)
{
    const profile *p = of->p;
    return layer < p->n_layers &&
           tensor_at(p->layers[layer].outputs, p->layers[layer].n_outputs, index, out);
}

size_t assay_profile_operation_count(const assay_result *of)
{
    return of->p->n_operations;
}

bool assay_profile_operation(const assay_result *of, size_t index, assay_operation *out)
{
    if (index >= of->p->n_operations)
        return false;
    const profile_operation *o = &of->p->operations[index];
    assay_operation x = {.type = text(o->type),
                         .count = o->count,
                         .flops = o->flops,
                         .macs = o->macs,
                         .memory = o->memory,
                         .percent = o->percent};
    HAND_OUT(out, x);
    return true;
}

size_t assay_profile_warning_count(const assay_result *of)
{
    return of->p->warnings.list.n;
}

bool assay_profile_warning(const assay_result *of, size_t index, assay_warning *out)
{
    if (index >= of->p->warnings.list.n)
        return false;
    const note *n = &of->p->warnings.list.items[index];
    assay_warning x = {
        .code = n->code, .node = text(n->node), .text = text(n->text), .advice = text(n->advice)};
    HAND_OUT(out, x);
    return true;
}

size_t assay_profile_recommendation_count(const assay_result *of)
{
    return of->p->n_recommendations;
}

bool assay_profile_recommendation(const assay_result *of, size_t index, assay_recommendation *out)
{
    if (index >= of->p->n_recommendations)
        return false;
    const profile_advice *a = &of->p->recommendations[index];
    assay_recommendation x = {.id = a->id ? a->id : "",
                              .title = text(a->title),
                              .why = text(a->why),
                              .expected = text(a->expected)};
    HAND_OUT(out, x);
    return true;
}
