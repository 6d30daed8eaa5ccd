/* "assay.profile/1", the result of one model: its head, totals, accounting and advice. Layers, modules, memory plan
 * and training are in profile_fields_layers.c, measurements in profile_fields_measured.c, devices in
 * profile_fields_map.c, groups in profile_fields_fusion.c, a watched process in profile_fields_watch.c.
 */
#include "profile/profile_fields.h"

#include "profile/codecs.h"
#include "profile/conclusion.h"

/* ---- context ---- */

static const field host_rows[] = {
    FIELD_AS(profile, "os", context.os, STR, NONE, NULL, "Operating system.", OR_NULL),
    FIELD_AS(profile, "machine", context.machine, STR, NONE, NULL,
             "Architecture reported by uname.", OR_NULL),
    FIELD_AS(profile, "cpu", context.cpu, STR, NONE, NULL, "Model name of the processor.", OR_NULL),
    FIELD_AS(profile, "cores", context.cores, U64, COUNT, NULL, "Processors this process may use."),
    FIELD_AS(profile, "memory_bytes", context.memory_bytes, U64, BYTES, NULL, "Main memory."),
};
static const fields host_fields = FIELDS_AS(profile, "host", host_rows);

static const field setting_rows[] = {
    FIELD(profile_setting, key, STR, NONE, NULL, "Name of the option."),
    FIELD(profile_setting, value, STR, NONE, NULL, "Its value."),
};
static const fields setting_fields = FIELDS(profile_setting, setting_rows);

static const field engine_rows[] = {
    FIELD(profile_engine, name, STR, NONE, NULL, "Short name of the engine."),
    FIELD(profile_engine, title, STR, NONE, "Engine", "Its full name.", OR_NULL),
    FIELD(profile_engine, version, STR, NONE, NULL, "Its version."),
    FIELD(profile_engine, library, STR, NONE, NULL, "File it was loaded from.", OR_NULL),
    FIELD(profile_engine, device, STR, NONE, "Device", "Where the engine ran.", OR_NULL),
    FIELD(profile_engine, threads, INT, COUNT, "Threads",
          "Threads per operator; 0: the engine decides."),
    FIELD(profile_engine, opt_level, INT, NONE, NULL, "Graph optimisation level."),
    FIELD(profile_engine, spin, BOOL, NONE, NULL, "Whether idle threads spin."),
    FIELD_ITEMS(profile_engine, LIST, "provider_options", settings, n_settings, setting_fields,
                "Options of --provider-option.", OR_OMIT, ONE_LINE),
    FIELD(profile_engine, concurrency, U64, COUNT, NULL, "Concurrent callers."),
    FIELD(profile_engine, rate, F64, PER_SECOND, NULL,
          "Requests per second of an open loop; null: a closed one.", NULL_ZERO),
    FIELD(profile_engine, seed, U64, NONE, NULL, "Seed of generated inputs."),
    FIELD(profile_engine, interleaved, BOOL, NONE, NULL,
          "Whether runs alternated with those of another model.", OMIT_ZERO),
};
static const fields engine_fields = FIELDS_IF_PRESENT(profile_engine, engine_rows);

static const field context_rows[] = {
    FIELD_AS(profile, "tool_version", context.tool_version, STR, NONE, NULL, "Version of assay."),
    FIELD_AS(profile, "timestamp", context.timestamp, STR, NONE, NULL,
             "Time of the analysis, UTC."),
    FIELD_AS(profile, "command", context.command, STR, NONE, NULL, "Command line.", OR_NULL),
    FIELD_AS(profile, "view", context.view, STR, NONE, NULL,
             "Part of the result that the command shows: bench, layers, memory, map, ...", OR_OMIT),
    FIELD_INLINE("host", host_fields, "Machine that ran the model."),
    FIELD_STRUCT(profile, "engine", context.engine, engine_fields, "Engine that ran the model."),
    FIELD_AS(profile, "governor", context.governor, STR, NONE, NULL, "CPU frequency governor.",
             OR_OMIT),
    FIELD_AS(profile, "model_sha256", context.model_sha256, STR, NONE, NULL,
             "SHA-256 of the model file.", OR_OMIT),
};
const fields context_fields = FIELDS_AS(profile, "context", context_rows);

/* ---- config ---- */

FINISH_WORD(finish_tensor, profile_tensor, kind, "tensor")

static const field tensor_rows[] = {
    FIELD(profile_tensor, name, STR, NONE, "Name", "Name of the value."),
    FIELD(profile_tensor, dtype, CODEC, NONE, "Type", "Element type, as numpy names it.",
          .codec = &dtype_codec, OR_NULL),
    FIELD(profile_tensor, shape, CODEC, NONE, "Shape",
          "Dimensions; null for unknown ones and for an unknown rank.", .codec = &shape_codec,
          OR_NULL),
    FIELD(profile_tensor, kind, CODEC, NONE, NULL, "sequence, optional or map; else a tensor.",
          .codec = &tensor_kind_codec, OR_OMIT),
};
static const profile_tensor tensor_start = {.shape = {.rank = -1}};
const fields tensor_fields = FIELDS(profile_tensor, tensor_rows, .start = &tensor_start,
                                    .finish = finish_tensor);

static const field input_shape_rows[] = {
    FIELD(profile_tensor, shape, CODEC, NONE, NULL, "Shape of the input.", .codec = &shape_codec,
          OR_NULL),
};
static const fields input_shape_fields = FIELDS_AS(profile_tensor, "input_shape", input_shape_rows,
                                                   .key_at = offsetof(profile_tensor, name),
                                                   .bare = true);

static const field axis_rows[] = {
    FIELD(profile_batch_axis, input, STR, NONE, NULL, "Name of the input."),
    FIELD(profile_batch_axis, axis, I64, COUNT, NULL, "Its batch dimension; null: it has none.",
          OR_NULL),
};
static const fields axis_fields = FIELDS(profile_batch_axis, axis_rows);

static const field batch_rows[] = {
    FIELD_AS(profile, "present", batch.present, BOOL, NONE, NULL,
             "Whether an input has a batch dimension."),
    FIELD_AS(profile, "certainty", batch.certainty, WORD, NONE, NULL,
             "How it was found: built, named, tried, likely or assumed."),
    FIELD_AS(profile, "why", batch.why, STR, NONE, NULL, "The reason."),
    FIELD_ITEMS(profile, LIST, "axes", batch.axes, batch.n_axes, axis_fields,
                "The batch dimension of each input.", ONE_LINE),
};
static const fields batch_fields = FIELDS_AS(profile, "batch_axes", batch_rows,
                                             .present_at = 1 + offsetof(profile, batch.asked));

static const field property_rows[] = {
    FIELD(profile_property, key, STR, NONE, "Metadata",
          "name, description, version, author, license, input N, output N, file or signature."),
    FIELD(profile_property, value, STR, NONE, "Value", "What the file says."),
};
static const fields property_fields = FIELDS(profile_property, property_rows);

static const field config_rows[] = {
    FIELD(profile, model, STR, NONE, NULL, "The model as the user named it.",
          .flags = FIELD_WRITE_ONLY),
    FIELD(profile, format, STR, NONE, "Format", "Format of the model."),
    FIELD(profile, image_size, CODEC, NONE, "Image size",
          "Side of a square input image, or [height, width].", .codec = &image_size_codec, OR_OMIT),
    FIELD(profile, device, STR, NONE, NULL, "Device asked for.", OR_NULL),
    FIELD(profile, config_file, STR, NONE, NULL, "Configuration file.", OR_NULL),
    FIELD(profile, recognised, STR, NONE, "Recognised as",
          "Built-in architecture, with its parameters, that a file of weights was recognised as.",
          OR_OMIT),
    FIELD_AS(profile, "precision", weights_dtype, STR, NONE, "Precision",
             "Type of most weights, or the type that bytes were counted at.", OR_NULL),
    FIELD_AS(profile, "weighed_as", precision, STR, NONE, NULL,
             "Type that bytes were counted at, with --precision.", OR_OMIT),
    FIELD_VALUES(profile, U64S, "batch_sizes", batch_sizes, n_batch_sizes, COUNT,
                 "Batch sizes measured.", OR_OMIT),
    FIELD_INLINE("batch", batch_fields, "Which dimension of the inputs is the batch."),
    FIELD(profile, ir_version, I64, NONE, NULL, "IR version of an ONNX file."),
    FIELD(profile, opset, I64, NONE, "Opset", "Opset of ai.onnx."),
    FIELD(profile, producer, STR, NONE, NULL, "Program that wrote the file.", OR_NULL),
    FIELD_ITEMS(profile, LIST, "metadata", metadata, n_metadata, property_fields,
                "What a TFLite file says about itself: metadata and signatures.", OR_OMIT),
    FIELD_ITEMS(profile, MAP, "input_shapes", inputs, n_inputs, input_shape_fields,
                "Shape of each input, by name.", .flags = FIELD_WRITE_ONLY),
    FIELD_ITEMS(profile, LIST, "inputs", inputs, n_inputs, tensor_fields, "Inputs of the model.",
                ONE_LINE),
    FIELD_ITEMS(profile, LIST, "outputs", outputs, n_outputs, tensor_fields,
                "Outputs of the model.", ONE_LINE),
};
static const fields config_fields = FIELDS_AS(profile, "config", config_rows);

/* ---- totals ---- */

static bool finish_dtype(field_reader *r, void *base)
{
    (void)r;
    profile_bytes_by_dtype *t = base;
    t->dtype = ir_dtype_by_name(t->name);
    return true;
}

static const field weights_rows[] = {
    FIELD(profile_bytes_by_dtype, elements, U64, AMOUNT, "Elements", "Elements of this type."),
    FIELD(profile_bytes_by_dtype, bytes, U64, BYTES, "Size", "Their size."),
};
const fields weights_by_dtype_fields = FIELDS(profile_bytes_by_dtype, weights_rows,
                                              .key_at = offsetof(profile_bytes_by_dtype, name),
                                              .finish = finish_dtype);

static const field architecture_rows[] = {
    FIELD(profile_architecture, total_parameters, U64, AMOUNT, "Parameters",
          "Parameters of the model.", .flags = FIELD_LOWER_IS_BETTER),
    FIELD(profile_architecture, trainable_parameters, U64, AMOUNT, "Trainable",
          "Trainable parameters."),
    FIELD(profile_architecture, buffers, U64, AMOUNT, "Buffers",
          "Elements of BatchNorm statistics and other state."),
    FIELD(profile_architecture, parameters_not_in_graph, U64, AMOUNT, NULL,
          "Parameters of the file that the graph does not use.", OMIT_ZERO),
    FIELD(profile_architecture, model_size_mb, F64, MIB, "Model size",
          "Parameters and buffers at their stored type, in MiB."),
    FIELD(profile_architecture, weight_bytes, U64, BYTES, "Weights", "The same in bytes."),
    FIELD(profile_architecture, file_size_bytes, U64, BYTES, "File",
          "Size on disk, external data included."),
    FIELD(profile_architecture, constant_tensors, U64, COUNT, NULL,
          "Constants that operators of a TFLite file read: weights, shapes, axes.", OMIT_ZERO),
    FIELD(profile_architecture, constant_elements, U64, AMOUNT, NULL, "Their elements.", OMIT_ZERO),
    FIELD(profile_architecture, constant_bytes, U64, BYTES, NULL, "Their size as stored.",
          OMIT_ZERO),
    FIELD(profile_architecture, flops, U64, FLOPS, "FLOPs", "FLOPs by the chosen convention."),
    FIELD(profile_architecture, gflops, F64, NONE, "GFLOPs", "The same divided by 10^9."),
    FIELD(profile_architecture, macs, U64, MACS, "MACs", "Multiply-accumulates."),
    FIELD(profile_architecture, gmacs, F64, NONE, "GMACs", "The same divided by 10^9."),
    FIELD(profile_architecture, causal_macs, U64, MACS, "Causal MACs",
          "MACs with causal masks counted."),
    FIELD(profile_architecture, flops_per_param, F64, RATIO, "FLOPs per parameter",
          "FLOPs divided by parameters.", OR_NULL),
    FIELD(profile_architecture, operators, U64, COUNT, "Operators", "Nodes that run."),
    FIELD_ITEMS(profile_architecture, MAP, "weights_by_dtype", dtypes, n_dtypes,
                weights_by_dtype_fields, "Weights by element type.", ONE_LINE),
};
static const fields architecture_fields = FIELDS(profile_architecture, architecture_rows);

static const field cost_rows[] = {
    FIELD(profile_ops, mac, U64, MACS, NULL, "Multiply-accumulates."),
    FIELD(profile_ops, add, U64, COUNT, NULL, "Additions."),
    FIELD(profile_ops, mul, U64, COUNT, NULL, "Multiplications."),
    FIELD(profile_ops, div, U64, COUNT, NULL, "Divisions."),
    FIELD(profile_ops, special, U64, COUNT, NULL, "exp, sqrt, erf and their like."),
    FIELD(profile_ops, cmp, U64, COUNT, NULL, "Comparisons and selections."),
    FIELD(profile_ops, int_ops, U64, COUNT, NULL, "Integer operations."),
    FIELD_AS(profile_ops, "attention_qk_mac", mac_qk, U64, MACS, NULL, "MACs of Q·K."),
    FIELD_AS(profile_ops, "attention_av_mac", mac_av, U64, MACS, NULL, "MACs of A·V."),
};
static const fields cost_fields = FIELDS(profile_ops, cost_rows);

static const char *const item_certainty[] = {"assumed", "unknown", NULL};
static const field item_rows[] = {
    FIELD(profile_item, node, STR, NONE, "Node", "Node or value."),
    FIELD(profile_item, op, STR, NONE, "Operator", "Its operator."),
    FIELD(profile_item, reason, STR, NONE, "Reason", "Why it is not exact."),
    FIELD_AS(profile_item, "certainty", unknown, EITHER, NONE, "Certainty",
             "assumed: counted with an assumption; unknown: not counted.", .words = item_certainty),
};
static const fields item_fields = FIELDS(profile_item, item_rows);

static const field accounting_rows[] = {
    FIELD_AS(profile, "nodes", accounting.nodes, U64, COUNT, NULL, "Nodes of the graph."),
    FIELD_AS(profile, "exact", accounting.exact, U64, COUNT, NULL, "Counted exactly."),
    FIELD_AS(profile, "assumed", accounting.assumed, U64, COUNT, NULL,
             "Counted with an assumption."),
    FIELD_AS(profile, "unknown", accounting.unknown, U64, COUNT, NULL, "Not counted."),
    FIELD_AS(profile, "user_defined", accounting.user_defined, U64, COUNT, NULL,
             "Counted by a rule of --ops.", OMIT_ZERO),
    FIELD_AS(profile, "folded", accounting.folded, U64, COUNT, NULL,
             "Computed when the model is loaded."),
    FIELD(profile, anything_assumed, BOOL, NONE, NULL,
          "Whether anything is assumed or unknown; `--strict` refuses it."),
    FIELD(profile, weights_differ, BOOL, NONE, NULL,
          "Whether the weights on disk differ from the configuration.", OMIT_ZERO),
    FIELD(profile, architecture_changed, BOOL, NONE, NULL,
          "Whether an input size changed the weights of a built-in model.", OMIT_ZERO),
    FIELD_ITEMS(profile, LIST, "items", accounting.items, accounting.n_items, item_fields,
                "Assumed and unknown items.", ONE_LINE),
};
static const fields accounting_fields = FIELDS_AS(profile, "accounting", accounting_rows);

static const field user_operator_rows[] = {
    FIELD(profile_user_operator, op, STR, NONE, "Operator", "The operator, with its domain."),
    FIELD(profile_user_operator, file, STR, NONE, "Rules", "The file that describes it."),
    FIELD(profile_user_operator, nodes, U64, COUNT, "Nodes", "Nodes that the rule counted."),
};
static const fields user_operator_fields = FIELDS(profile_user_operator, user_operator_rows);

static const field load_time_rows[] = {
    FIELD(profile_load_time, operators, U64, COUNT, NULL, "Operators on constants alone."),
    FIELD(profile_load_time, flops, U64, FLOPS, NULL, "Their FLOPs, by the convention in use."),
    FIELD(profile_load_time, macs, U64, MACS, NULL, "Their MACs."),
    FIELD(profile_load_time, memory, U64, BYTES, NULL, "Bytes they move."),
    FIELD(profile_load_time, kept_bytes, U64, BYTES, NULL,
          "Bytes of their results that layers use."),
};
static const fields load_time_fields = FIELDS(profile_load_time, load_time_rows);

static const field operation_rows[] = {
    FIELD(profile_operation, type, STR, NONE, "Type", "Family of operators.", IN_CSV),
    FIELD(profile_operation, count, U64, COUNT, "Count", "Nodes of it.", IN_CSV),
    FIELD(profile_operation, flops, U64, FLOPS, "FLOPs", "Their FLOPs.", IN_CSV),
    FIELD(profile_operation, macs, U64, MACS, "MACs", "Their MACs.", IN_CSV),
    FIELD(profile_operation, memory, U64, BYTES, "Memory", "Bytes they move.", IN_CSV),
    FIELD(profile_operation, parameters, U64, AMOUNT, "Parameters", "Their parameters.", IN_CSV),
    FIELD(profile_operation, percent, F64, PERCENT, "Share", "Share of FLOPs.", IN_CSV),
};
static const fields operation_fields = FIELDS(profile_operation, operation_rows);

static const field bottleneck_rows[] = {
    FIELD(profile_bottlenecks, threshold, F64, INTENSITY, NULL,
          "Threshold: layers with more FLOPs per byte are compute-bound."),
    FIELD(profile_bottlenecks, hardware, STR, NONE, NULL, "Device of the ridge.", OR_OMIT),
    FIELD(profile_bottlenecks, compute_bound_percent, F64, PERCENT, NULL,
          "Share of FLOPs in compute-bound layers."),
    FIELD(profile_bottlenecks, memory_bound_percent, F64, PERCENT, NULL,
          "Share of FLOPs in memory-bound layers."),
    FIELD(profile_bottlenecks, compute_bound_layers_percent, F64, PERCENT, NULL,
          "Share of layers that are compute-bound."),
    FIELD(profile_bottlenecks, memory_bound_layers_percent, F64, PERCENT, NULL,
          "Share of layers that are memory-bound."),
    FIELD(profile_bottlenecks, limit, WORD, NONE, NULL,
          "Limit of most FLOPs: compute, memory or both.", OR_OMIT, .flags = FIELD_WRITE_ONLY),
    FIELD(profile_bottlenecks, many_small, BOOL, NONE, NULL,
          "Whether most FLOPs are compute-bound but most layers only move data.", OMIT_ZERO,
          .flags = FIELD_WRITE_ONLY),
    FIELD(profile_bottlenecks, family, WORD, NONE, NULL,
          "Family of most FLOPs: convolution or matmul.", OR_OMIT, .flags = FIELD_WRITE_ONLY),
    FIELD(profile_bottlenecks, family_percent, F64, PERCENT, NULL, "Its share of FLOPs.", OR_OMIT,
          .flags = FIELD_WRITE_ONLY),
};
static const fields bottleneck_fields = FIELDS(profile_bottlenecks, bottleneck_rows);

/* ---- advice and warnings ---- */

static const field advice_rows[] = {
    FIELD(profile_advice, id, WORD, NONE, NULL, "Stable name."),
    FIELD(profile_advice, title, STR, NONE, "Advice", "The recommended change."),
    FIELD(profile_advice, why, STR, NONE, "Reason", "Reason, with numbers."),
    FIELD(profile_advice, expected, STR, NONE, "Expected", "Expected effect."),
};
static const fields advice_fields = FIELDS(profile_advice, advice_rows);

static const field note_rows[] = {
    FIELD(note, code, WORD, NONE, NULL, "Stable name of the warning."),
    FIELD(note, node, STR, NONE, NULL, "Node or value concerned, or empty."),
    FIELD(note, text, STR, NONE, NULL, "The problem."),
    FIELD(note, advice, STR, NONE, NULL, "Advice, or empty."),
};
const fields note_fields = FIELDS(note, note_rows);

static const field warning_rows[] = {
    FIELD_ITEMS(notes, LIST, "warnings", list.items, list.n, note_fields,
                "Warnings about the numbers.", ONE_LINE),
    FIELD_AS(notes, "warnings_dropped", dropped, U32, COUNT, NULL,
             "Further warnings of the same codes.", OMIT_ZERO),
};
const fields warning_fields = FIELDS(notes, warning_rows);

/* ---- all ---- */

static const field profile_rows[] = {
    FIELD(profile, model, STR, NONE, "Model", "The model as the user named it."),
    FIELD_CONCLUSION(profile),
    FIELD(profile, lens, STR, NONE, "Convention", "Convention that FLOPs follow."),
    FIELD_INLINE("context", context_fields, "Time, machine and settings of the result."),
    FIELD_INLINE("config", config_fields, "Model, inputs and settings."),
    FIELD_STRUCT(profile, "architecture", architecture, architecture_fields, "Size of the model."),
    FIELD(profile, total_flops, U64, FLOPS, "FLOPs", "FLOPs by the chosen convention."),
    FIELD(profile, total_macs, U64, MACS, "MACs", "Multiply-accumulates."),
    FIELD(profile, total_memory, U64, BYTES, "Memory traffic", "Bytes that all layers move."),
    FIELD(profile, total_read, U64, BYTES, "Read", "Bytes read, weights included.",
          .flags = FIELD_WRITE_ONLY),
    FIELD(profile, total_written, U64, BYTES, "Written", "Bytes written.",
          .flags = FIELD_WRITE_ONLY),
    FIELD(profile, total_parameters, U64, AMOUNT, "Parameters", "Parameters of the model."),
    FIELD(profile, total_operators, U64, COUNT, "Operators", "Nodes that run."),
    FIELD(profile, arithmetic_intensity, F64, INTENSITY, "Arithmetic intensity",
          "FLOPs per byte moved."),
    FIELD_STRUCT(profile, "bands", bands, profile_band_fields, "Ratings of the values.",
                 .flags = FIELD_WRITE_ONLY),
    FIELD_STRUCT(profile, "cost", ops, cost_fields, "Operations by kind.", ONE_LINE),
    FIELD_INLINE("accounting", accounting_fields, "Certainty of the counts."),
    FIELD_ITEMS(profile, LIST, "user_operators", user_operators, n_user_operators,
                user_operator_fields, "Rules of --ops that were used.", OR_OMIT, ONE_LINE),
    FIELD_STRUCT(profile, "load_time", load_time, load_time_fields,
                 "Work on weights alone, which an engine does once, when it loads the model."),
    FIELD_ITEMS(profile, LIST, "operations", operations, n_operations, operation_fields,
                "Costs by operator family, most FLOPs first.", ONE_LINE),
    FIELD_STRUCT(profile, "bottlenecks", bottlenecks, bottleneck_fields,
                 "Compute-bound and memory-bound shares."),
    FIELD_ITEMS(profile, LIST, "layers", layers, n_layers, layer_fields,
                "Layers in execution order.", ONE_LINE),
    FIELD_ITEMS(profile, LIST, "modules", modules, n_modules, module_fields,
                "Module tree, depth first.", OR_OMIT, ONE_LINE),
    FIELD_ITEMS(profile, MAP, "values", values, n_values, value_fields,
                "Every value of the graph, with --verbose.", OR_OMIT, ONE_LINE),
    FIELD_STRUCT(profile, "memory_plan", memory_plan, memory_plan_fields,
                 "Live activations over the execution order."),
    FIELD_STRUCT(profile, "training", training, training_fields, "Cost of a training step."),
    FIELD_STRUCT(profile, "inventory", inventory, inventory_fields,
                 "Tensors of a file of weights whose architecture is unknown or was recognised."),
    FIELD_SPLICED(profile, measured, measured_fields, .by_pointer = true),
    FIELD_SPLICED(profile, mapping, mapping_fields, .by_pointer = true),
    FIELD_SPLICED(profile, fusion, fusion_fields, .by_pointer = true),
    FIELD_ITEMS(profile, LIST, "patterns", patterns, n_patterns, pattern_fields,
                "Known computations found, with --patterns.", ONE_LINE,
                .when_at = 1 + offsetof(profile, has_patterns)),
    FIELD_STRUCT(profile, "watch", watch, watch_fields, "A watched process.", .by_pointer = true),
    FIELD_ITEMS(profile, LIST, "recommendations", recommendations, n_recommendations, advice_fields,
                "Recommended changes, with their effect."),
    FIELD_SPLICED(profile, warnings, warning_fields),
};

/* The engine stands in the context of the file and with the measurement here. */
static void finish_engine(const profile_context *c, profile_measured *m)
{
    m->engine = c->engine;
    m->governor = c->governor;
    m->concurrency = c->engine.concurrency;
    m->seed = c->engine.seed;
    m->rate = c->engine.rate;
    m->interleaved = c->engine.interleaved;
}

/* Depth first: the parent is the last module before it that is one level up. */
static bool finish_modules(field_reader *r, profile *p)
{
    profile_module *m = (profile_module *)(uintptr_t)p->modules;
    if (p->n_modules && m[0].depth != 0)
        return fields_fail(r, "the first of \"modules\" is not of depth 0");
    for (uint32_t i = 1; i < p->n_modules; i++) {
        uint32_t parent = i - 1;
        if (m[i].depth < 1 || m[i].depth > m[parent].depth + 1)
            return fields_fail(r, "\"modules\" skips a depth");
        while (m[parent].depth >= m[i].depth)
            parent = m[parent].parent;
        m[i].parent = parent;
    }
    return true;
}

static bool finish_profile(field_reader *r, void *base)
{
    profile *p = base;
    if (!finish_modules(r, p))
        return false;
    if (p->measured)
        finish_engine(&p->context, p->measured);
    p->arena = r->arena;
    p->warnings.arena = r->arena;
    p->warnings.list.cap = p->warnings.list.n;
    p->anything_assumed |= p->accounting.assumed || p->accounting.unknown || p->inventory.alone;
    return profile_settle(p) || fields_fail_memory(r);
}
static const fields profile_fields = FIELDS(profile, profile_rows, .finish = finish_profile);

const result_kind profile_kind = {.schema = "assay.profile",
                                  .version = 1,
                                  .name = "profile",
                                  .what = "a result of one model",
                                  .of = &profile_fields,
                                  .conclude = profile_conclude,
                                  .conclusion_at = offsetof(profile, conclusion)};
