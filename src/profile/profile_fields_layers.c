/* The lists of "assay.profile/1" that describe the graph: layers, modules, values, memory plan, training, inventory. */
#include "profile/codecs.h"
#include "profile/profile_fields.h"

/* ---- layers ---- */

static const char *const certainty_words[] = {"exact", "assumed", "unknown", "user-defined", NULL};
static const char *const value_words[] = {"exact", "assumed", "unknown", NULL};

/* A list of tensors: the codec takes the layer itself. */
#define TENSORS(key_, codec_, about_)                                                     \
    {                                                                                     \
        .key = key_, .kind = FIELD_CODEC, .codec = &codec_, .about = FIELD_ABOUT(about_), \
        .flags = FIELD_CSV                                                                \
    }

#define LAYER_COST(key_, member_, unit_, about_) \
    FIELD_AS(profile_ops, key_, member_, U64, unit_, NULL, about_, OMIT_ZERO)
static const field layer_cost_rows[] = {
    LAYER_COST("mac", mac, MACS, "Multiply-accumulates."),
    LAYER_COST("add", add, COUNT, "Additions."),
    LAYER_COST("mul", mul, COUNT, "Multiplications."),
    LAYER_COST("div", div, COUNT, "Divisions."),
    LAYER_COST("special", special, COUNT, "exp, sqrt, erf and their like."),
    LAYER_COST("cmp", cmp, COUNT, "Comparisons and selections."),
    LAYER_COST("int_ops", int_ops, COUNT, "Integer operations."),
    LAYER_COST("attention_qk_mac", mac_qk, MACS, "MACs of Q·K."),
    LAYER_COST("attention_av_mac", mac_av, MACS, "MACs of A·V."),
};
static const fields layer_cost_fields = FIELDS_AS(profile_ops, "layer_cost", layer_cost_rows);

static const field layer_rows[] = {
    FIELD(profile_layer, name, STR, NONE, "Layer", "Name of the layer.", IN_CSV),
    FIELD(profile_layer, type, STR, NONE, "Type", "Family of its operator.", IN_CSV),
    FIELD(profile_layer, op, STR, NONE, "Operator", "ONNX name; domain::Name outside ai.onnx.",
          IN_CSV),
    FIELD(profile_layer, module, STR, NONE, "Module", "Module it belongs to.", IN_CSV),
    TENSORS("inputs", layer_inputs_codec, "Names of its inputs."),
    TENSORS("outputs", layer_outputs_codec, "Names of its outputs."),
    TENSORS("input_shapes", layer_input_shapes_codec, "Shapes of its inputs."),
    TENSORS("output_shapes", layer_output_shapes_codec, "Shapes of its outputs."),
    TENSORS("output_types", layer_output_types_codec, "Element types of its outputs."),
    {.key = "attributes",
     .kind = FIELD_CODEC,
     .codec = &attributes_codec,
     OR_OMIT,
     .about = "Attributes that are not at the operator's default, and small constant inputs."},
    FIELD(profile_layer, parameters, U64, AMOUNT, "Parameters", "Its parameters.", IN_CSV),
    FIELD(profile_layer, flops, U64, FLOPS, "FLOPs", "FLOPs by the chosen convention.", IN_CSV),
    FIELD(profile_layer, macs, U64, MACS, "MACs", "Multiply-accumulates.", IN_CSV),
    FIELD_STRUCT(profile_layer, "cost", ops, layer_cost_fields,
                 "Operations by kind; a kind without any is omitted.", ONE_LINE),
    FIELD(profile_layer, memory, U64, BYTES, "Memory", "Bytes it moves.", IN_CSV),
    FIELD(profile_layer, weight_bytes, U64, BYTES, "Weights", "Bytes of weights it reads.", IN_CSV),
    FIELD(profile_layer, read_bytes, U64, BYTES, "Read", "Bytes of activations it reads.", IN_CSV),
    FIELD(profile_layer, written_bytes, U64, BYTES, "Written", "Bytes it writes.", IN_CSV),
    FIELD(profile_layer, arithmetic_intensity, F64, INTENSITY, "Intensity", "FLOPs per byte.",
          IN_CSV),
    FIELD_AS(profile_layer, "bottleneck", compute_bound, EITHER, NONE, "Bottleneck",
             "compute-bound or memory-bound.", .words = bound_words, IN_CSV),
    FIELD(profile_layer, band, WORD, NONE, "Band",
          "strong-compute, compute, balanced or memory, by arithmetic intensity.", IN_CSV),
    FIELD(profile_layer, certainty, ENUM, NONE, "Certainty", "Certainty of the values.",
          .words = certainty_words, IN_CSV),
    FIELD(profile_layer, times, U64, COUNT, "Times", "Executions in one run of the model.", IN_CSV),
    FIELD(profile_layer, live_bytes, U64, BYTES, "Live", "Live activations during the layer.",
          IN_CSV),
    FIELD(profile_layer, backward_flops, U64, FLOPS, "Backward FLOPs", "FLOPs of its gradient.",
          .when_at = 1 + offsetof(profile_layer, with_training), IN_CSV),
    FIELD(profile_layer, backward_macs, U64, MACS, "Backward MACs", "MACs of its gradient.",
          .when_at = 1 + offsetof(profile_layer, with_training), IN_CSV),
    FIELD(profile_layer, saved_bytes, U64, BYTES, "Saved", "Activations kept for its gradient.",
          .when_at = 1 + offsetof(profile_layer, with_training), IN_CSV),
    FIELD(profile_layer, time_ms, F64, MS, "Time", "Measured time in one run of the model.",
          OR_OMIT, IN_CSV),
    FIELD(profile_layer, time_std_ms, F64, MS, "Time ±", "Its standard deviation.", OR_OMIT,
          IN_CSV),
    FIELD(profile_layer, gflops_per_s, F64, GFLOPS_PER_S, "GFLOP/s", "Achieved rate.", OR_OMIT,
          IN_CSV),
    FIELD(profile_layer, gbytes_per_s, F64, GBYTES_PER_S, "GB/s", "Achieved bandwidth.", OR_OMIT,
          IN_CSV),
    FIELD(profile_layer, percent_of_roof, F64, PERCENT, "Of roof",
          "Lowest possible time on this machine's ceilings, as a share of the measured time.",
          OR_OMIT, IN_CSV),
};
static const profile_layer layer_start = {.times = 1,
                                          .time_ms = NAN,
                                          .time_std_ms = NAN,
                                          .gflops_per_s = NAN,
                                          .gbytes_per_s = NAN,
                                          .percent_of_roof = NAN};

FINISH_WORD(finish_layer, profile_layer, band, "")
const fields layer_fields = FIELDS(profile_layer, layer_rows, .start = &layer_start,
                                   .finish = finish_layer);

/* ---- modules and values ---- */

static const field module_rows[] = {
    FIELD(profile_module, path, STR, NONE, "Module", "Its path from the root."),
    FIELD(profile_module, name, STR, NONE, NULL, "Last part of the path."),
    FIELD(profile_module, depth, INT, COUNT, NULL, "0 is the model itself."),
    FIELD(profile_module, layers, U64, COUNT, "Layers", "Layers in it."),
    FIELD(profile_module, parameters, U64, AMOUNT, "Parameters", "Their parameters."),
    FIELD(profile_module, flops, U64, FLOPS, "FLOPs", "Their FLOPs."),
    FIELD(profile_module, macs, U64, MACS, "MACs", "Their MACs."),
    FIELD(profile_module, memory, U64, BYTES, "Memory", "Bytes they move."),
};
const fields module_fields = FIELDS(profile_module, module_rows);

FINISH_WORD(finish_value, profile_tensor, kind, "tensor")

static const field value_rows[] = {
    FIELD(profile_tensor, dtype, CODEC, NONE, "Type", "Element type.", .codec = &dtype_codec,
          OR_NULL),
    FIELD(profile_tensor, shape, CODEC, NONE, "Shape", "Dimensions; null where unknown.",
          .codec = &shape_codec, OR_NULL),
    FIELD(profile_tensor, kind, CODEC, NONE, NULL, "sequence, optional or map; else a tensor.",
          .codec = &tensor_kind_codec, OR_OMIT),
    FIELD(profile_tensor, certainty, WORD, NONE, "Certainty", "exact, assumed or unknown.",
          .words = value_words, OR_OMIT),
};
static const profile_tensor value_start = {.shape = {.rank = -1}};
const fields value_fields = FIELDS_AS(profile_tensor, "value", value_rows, .start = &value_start,
                                      .key_at = offsetof(profile_tensor, name),
                                      .finish = finish_value);

/* ---- memory plan ---- */

static const field witness_rows[] = {
    FIELD(profile_witness, value, STR, NONE, "Value", "Tensor that the buffer was allocated for."),
    FIELD(profile_witness, producer, STR, NONE, "Produced by", "Layer that produces it."),
    FIELD(profile_witness, bytes, U64, BYTES, "Size", "Its size."),
};
static const fields witness_fields = FIELDS(profile_witness, witness_rows);

static const field moment_rows[] = {
    FIELD(profile_moment, node, STR, NONE, "Layer", "The layer that runs."),
    FIELD(profile_moment, live_bytes, U64, BYTES, "Live", "Live activations during the layer."),
};
static const fields moment_fields = FIELDS(profile_moment, moment_rows);

static const field slot_rows[] = {
    FIELD(profile_slot, value, STR, NONE, "Value", "Tensor in the slot."),
    FIELD(profile_slot, offset, U64, BYTES, "Offset", "Where it lies in the block."),
    FIELD(profile_slot, bytes, U64, BYTES, "Size", "Its size."),
    FIELD(profile_slot, from, U32, COUNT, "From", "First step that needs it."),
    FIELD(profile_slot, to, U32, COUNT, "To", "Last step that needs it."),
};
static const fields slot_fields = FIELDS(profile_slot, slot_rows);

static const field event_rows[] = {
    FIELD(profile_event, step, U32, COUNT, "Step", "Place in the execution order, from 0."),
    FIELD(profile_event, kind, WORD, NONE, "Event",
          "allocate, reuse (in place), alias (a view) or free."),
    FIELD(profile_event, node, STR, NONE, "Layer", "The layer of the step."),
    FIELD(profile_event, value, STR, NONE, "Value", "Tensor that is allocated, shared or freed."),
    FIELD(profile_event, of, STR, NONE, "Of", "Value whose buffer is shared.", OR_NULL),
    FIELD(profile_event, bytes, U64, BYTES, "Size", "Its size."),
    FIELD(profile_event, slot, U32, COUNT, "Slot", "Index in slots."),
    FIELD(profile_event, offset, U64, BYTES, "Offset", "Where it lies in the block."),
    FIELD(profile_event, live_bytes, U64, BYTES, "Live", "Live bytes after the event."),
};
static const fields event_fields = FIELDS(profile_event, event_rows);

static const field snapshot_rows[] = {
    FIELD(profile_snapshot, kind, WORD, NONE, "Snapshot", "start, peak, maximum, asked or end."),
    FIELD(profile_snapshot, step, U32, COUNT, "Step", "Place in the execution order."),
    FIELD(profile_snapshot, node, STR, NONE, "Layer", "The layer that runs."),
    FIELD(profile_snapshot, live_bytes, U64, BYTES, "Live", "Live bytes during the layer."),
    FIELD_ITEMS(profile_snapshot, LIST, "values", values, n_values, witness_fields,
                "Live tensors, largest first.", ONE_LINE),
    FIELD_AS(profile_snapshot, "values_left_out", left_out, U64, COUNT, NULL,
             "Smaller values that are not listed."),
};
static const fields snapshot_fields = FIELDS(profile_snapshot, snapshot_rows);

static const field memory_plan_rows[] = {
    FIELD(profile_memory_plan, weights_bytes, U64, BYTES, "Weights", "Weights in memory."),
    FIELD(profile_memory_plan, activations_peak_bytes, U64, BYTES, "Activations at the peak",
          "Most activations alive at once.", .flags = FIELD_LOWER_IS_BETTER),
    FIELD(profile_memory_plan, peak_bytes, U64, BYTES, "Peak",
          "Weights and activations at the peak.", .flags = FIELD_LOWER_IS_BETTER),
    FIELD(profile_memory_plan, lower_bound_bytes, U64, BYTES, "Lower bound",
          "Lower bound of any plan."),
    FIELD(profile_memory_plan, planned_bytes, U64, BYTES, "Planned block",
          "Size of a block that holds all activations at fixed offsets."),
    FIELD(profile_memory_plan, fragmentation, F64, RATIO, "Fragmentation",
          "Share of the block that is idle at the peak."),
    FIELD(profile_memory_plan, peak_node, STR, NONE, "Peak at", "Layer at the peak.", OR_NULL),
    FIELD(profile_memory_plan, kv_cache, WORD, NONE, "KV cache",
          "Whether the peak includes the cache of a decoder: included or excluded.", OR_OMIT),
    FIELD_ITEMS(profile_memory_plan, LIST, "witnesses", witnesses, n_witnesses, witness_fields,
                "Live tensors at the peak, largest first.", ONE_LINE),
    FIELD_ITEMS(profile_memory_plan, LIST, "timeline", timeline, n_timeline, moment_fields,
                "Live activations after each layer.", ONE_LINE),
    FIELD_ITEMS(profile_memory_plan, LIST, "slots", slots, n_slots, slot_fields,
                "Offsets in the block, with --verbose.", OR_OMIT, ONE_LINE),
    FIELD_ITEMS(profile_memory_plan, LIST, "events", events, n_events, event_fields,
                "Allocations and frees in order.", OR_OMIT, ONE_LINE),
    FIELD_ITEMS(profile_memory_plan, LIST, "snapshots", snapshots, n_snapshots, snapshot_fields,
                "Live tensors at selected layers.", OR_OMIT),
};
const fields memory_plan_fields = FIELDS(profile_memory_plan, memory_plan_rows);

/* ---- training, inventory ---- */

static const field optimizer_rows[] = {
    FIELD(profile_optimizer, name, WORD, NONE, "Optimizer", "Its name."),
    FIELD(profile_optimizer, bytes_per_param, U64, BYTES, "Per parameter",
          "Bytes of weights, gradients and states."),
    FIELD(profile_optimizer, weights_bytes, U64, BYTES, "Weights", "Weights."),
    FIELD(profile_optimizer, gradients_bytes, U64, BYTES, "Gradients", "Gradients."),
    FIELD(profile_optimizer, states_bytes, U64, BYTES, "States", "Optimizer states."),
    FIELD(profile_optimizer, total_bytes, U64, BYTES, "Total",
          "Weights, gradients, states and activations."),
};
static const fields optimizer_fields = FIELDS(profile_optimizer, optimizer_rows);

static const field training_rows[] = {
    FIELD(profile_training, forward_flops, U64, FLOPS, "Forward FLOPs",
          "FLOPs of the forward pass."),
    FIELD(profile_training, backward_flops, U64, FLOPS, "Backward FLOPs",
          "FLOPs of the backward pass."),
    FIELD(profile_training, forward_macs, U64, MACS, "Forward MACs", "MACs of the forward pass."),
    FIELD(profile_training, backward_macs, U64, MACS, "Backward MACs",
          "MACs of the backward pass."),
    FIELD(profile_training, saved_activation_bytes, U64, BYTES, "Saved activations",
          "Activations kept for the backward pass."),
    FIELD_ITEMS(profile_training, LIST, "optimizers", optimizers, n_optimizers, optimizer_fields,
                "Memory by optimizer.", .size = 5, ONE_LINE),
};
const fields training_fields = FIELDS_IF_PRESENT(profile_training, training_rows);

static const field weight_rows[] = {
    FIELD(profile_weight, name, STR, NONE, "Tensor", "Its name."),
    FIELD(profile_weight, dtype, STR, NONE, "Type", "Element type, as the file names it."),
    FIELD(profile_weight, shape, CODEC, NONE, "Shape", "Its dimensions.", .codec = &shape_codec,
          OR_NULL),
    FIELD(profile_weight, elements, U64, AMOUNT, "Elements", "Its elements."),
    FIELD(profile_weight, bytes, U64, BYTES, "Size", "Its size."),
};
static const fields weight_fields = FIELDS(profile_weight, weight_rows);

static const field file_rows[] = {
    FIELD(profile_file, name, STR, NONE, "File", "Its name."),
    FIELD(profile_file, bytes, U64, BYTES, "Size", "Its size."),
};
static const fields file_fields = FIELDS(profile_file, file_rows);

static const field inventory_rows[] = {
    FIELD(profile_inventory, alone, BOOL, NONE, NULL,
          "Whether the architecture is unknown, so that the document has no layers."),
    FIELD(profile_inventory, tensors, U64, COUNT, "Tensors", "Tensors of the file."),
    FIELD(profile_inventory, elements, U64, AMOUNT, "Elements", "Their elements."),
    FIELD(profile_inventory, bytes, U64, BYTES, "Size", "Their size."),
    FIELD(profile_inventory, training_elements, U64, AMOUNT, "Training elements",
          "Of those, what only training needs: the state of an optimizer, averaged copies."),
    FIELD_ITEMS(profile_inventory, MAP, "by_dtype", dtypes, n_dtypes, weights_by_dtype_fields,
                "Elements and bytes by element type.", ONE_LINE),
    FIELD_ITEMS(profile_inventory, LIST, "files", files, n_files, file_fields,
                "The files that hold them.", ONE_LINE),
    FIELD_ITEMS(profile_inventory, LIST, "largest", largest, n_largest, weight_fields,
                "The largest tensors.", ONE_LINE),
};
const fields inventory_fields = FIELDS_IF_PRESENT(profile_inventory, inventory_rows);
