/* Field tables of fusion groups, their totals, and patterns. */
#include "profile/profile_fields.h"

static const field group_rows[] = {
    FIELD(fusion_group, id, U32, COUNT, "Group", "Index of the group.",
          .flags = FIELD_CSV | FIELD_WRITE_ONLY),
    FIELD(fusion_group, kind, STR, NONE, "Kind", "conv-bn-act, attention, ...; alone: its type.",
          IN_CSV),
    FIELD_VALUES(fusion_group, STRS, "nodes", nodes, n_nodes, NONE, "Layers, in order.", IN_CSV),
    FIELD(fusion_group, flops, U64, FLOPS, "FLOPs", "Their FLOPs.", IN_CSV),
    FIELD(fusion_group, macs, U64, MACS, "MACs", "Their MACs.", IN_CSV),
    FIELD(fusion_group, memory, U64, BYTES, "Memory", "Bytes moved layer by layer.", IN_CSV),
    FIELD(fusion_group, boundary_bytes, U64, BYTES, "Boundary",
          "Bytes that enter and leave the group.", IN_CSV),
    FIELD(fusion_group, saved_bytes, U64, BYTES, "Saved", "Bytes that fusing saves.",
          .flags = FIELD_WRITE_ONLY),
    FIELD(fusion_group, arithmetic_intensity, F64, INTENSITY, "Intensity",
          "FLOPs per byte as one kernel.", OR_NULL, IN_CSV),
    FIELD(fusion_group, intensity_before, F64, INTENSITY, "Before",
          "FLOPs per byte without fusion.", OR_NULL, IN_CSV),
    FIELD(fusion_group, launches, U64, COUNT, "Launches", "Kernels per run; 0: views alone.",
          IN_CSV),
    FIELD(fusion_group, level, U32, COUNT, "Level", "Groups of a level are independent.", IN_CSV),
    FIELD(fusion_group, critical, BOOL, NONE, "Critical", "On the critical path.", IN_CSV),
    FIELD_VALUES(fusion_group, U32S, "depends_on", depends_on, n_depends_on, COUNT,
                 "Groups it needs.", IN_CSV),
};
static const fields group_fields = FIELDS(fusion_group, group_rows);

static const field kind_rows[] = {
    FIELD(fusion_kind, kind, STR, NONE, "Kind", "Kind of group."),
    FIELD(fusion_kind, groups, U32, COUNT, "Groups", "Groups of it."),
    FIELD(fusion_kind, nodes, U32, COUNT, "Layers", "Their layers."),
    FIELD(fusion_kind, flops, U64, FLOPS, "FLOPs", "Their FLOPs."),
    FIELD(fusion_kind, memory, U64, BYTES, "Memory", "Bytes moved layer by layer."),
    FIELD(fusion_kind, boundary_bytes, U64, BYTES, "Boundary", "Bytes moved as groups."),
    FIELD(fusion_kind, saved_bytes, U64, BYTES, "Saved", "Bytes that fusing saves.",
          .flags = FIELD_WRITE_ONLY),
};
static const fields kind_fields = FIELDS(fusion_kind, kind_rows);

static const field difference_rows[] = {
    FIELD(fusion_difference, what, WORD, NONE, "What", "split or joined.", .flags = FIELD_NEEDED),
    FIELD(fusion_difference, kernel, STR, NONE, "Kernel", "The engine's kernel."),
    FIELD(fusion_difference, op, STR, NONE, "Operator", "Its operator."),
    FIELD(fusion_difference, kind, STR, NONE, "Kind", "Kind of the group."),
    FIELD(fusion_difference, detail, STR, NONE, "Layers", "Names of layers."),
};
static const fields difference_fields = FIELDS(fusion_difference, difference_rows);

static const field reason_rows[] = {
    FIELD(fusion_reason, what, WORD, NONE, "What", "split or joined.", .flags = FIELD_NEEDED),
    FIELD(fusion_reason, before, STR, NONE, "Before", "Type of the first layer."),
    FIELD(fusion_reason, after, STR, NONE, "After", "Type of the second."),
    FIELD(fusion_reason, pairs, U32, COUNT, "Pairs", "Number of pairs."),
};
static const fields reason_fields = FIELDS(fusion_reason, reason_rows);

static const field engine_rows[] = {
    FIELD(fusion_engine, name, STR, NONE, "Engine", "Its name."),
    FIELD(fusion_engine, kernels, U32, COUNT, "Kernels", "Kernels of the optimised graph."),
    FIELD(fusion_engine, own_kernels, U32, COUNT, NULL,
          "Kernels without a layer: copies, layout changes."),
    FIELD(fusion_engine, nodes, U32, COUNT, NULL, "Layers that kernels execute."),
    FIELD(fusion_engine, same_nodes, U32, COUNT, NULL,
          "Layers in groups that are equal to a kernel."),
    FIELD(fusion_engine, groups, U32, COUNT, NULL, "Groups of such layers."),
    FIELD(fusion_engine, same_groups, U32, COUNT, NULL, "Groups equal to a kernel of the engine."),
    FIELD_AS(fusion_engine, "joined_by_both", pairs_both, U32, COUNT, NULL,
             "Neighbours fused by both."),
    FIELD_AS(fusion_engine, "joined_here_only", pairs_ours, U32, COUNT, NULL,
             "Neighbours fused by assay only."),
    FIELD_AS(fusion_engine, "joined_there_only", pairs_engine, U32, COUNT, NULL,
             "Neighbours fused by the engine only."),
    FIELD_ITEMS(fusion_engine, LIST, "reasons", reasons, n_reasons, reason_fields,
                "Where the two part, most pairs first.", ONE_LINE),
    FIELD_ITEMS(fusion_engine, LIST, "differences", differences, n_differences, difference_fields,
                "Differences from the engine.", ONE_LINE),
};
static const fields engine_fields = FIELDS_IF_PRESENT(fusion_engine, engine_rows);

static const field summary_rows[] = {
    FIELD(profile_fusion, strategy, WORD, NONE, "Strategy", "none, conventional or aggressive."),
    FIELD_AS(profile_fusion, "groups", n_groups, U32, COUNT, "Groups", "Number of groups.",
             .flags = FIELD_WRITE_ONLY),
    FIELD(profile_fusion, launches_before, U64, COUNT, "Launches before",
          "Kernels, one per layer."),
    FIELD(profile_fusion, launches_after, U64, COUNT, "Launches after", "Kernels, one per group."),
    FIELD(profile_fusion, bytes_before, U64, BYTES, "Bytes before",
          "Bytes moved if each layer is one kernel."),
    FIELD(profile_fusion, bytes_after, U64, BYTES, "Bytes after",
          "Bytes moved if each group is one kernel."),
    FIELD(profile_fusion, launches_saved, U64, COUNT, "Launches saved",
          "Launches that fusing saves.", .flags = FIELD_WRITE_ONLY),
    FIELD(profile_fusion, bytes_saved, U64, BYTES, "Bytes saved", "Bytes that fusing saves.",
          .flags = FIELD_WRITE_ONLY),
    FIELD(profile_fusion, intensity_before, F64, INTENSITY, NULL, "FLOPs per byte before.",
          OR_NULL),
    FIELD(profile_fusion, intensity_after, F64, INTENSITY, NULL, "FLOPs per byte after.", OR_NULL),
    FIELD(profile_fusion, levels, U32, COUNT, "Levels", "Levels of independent groups."),
    FIELD(profile_fusion, widest_level, U32, COUNT, NULL, "Level with the most groups."),
    FIELD(profile_fusion, widest_groups, U32, COUNT, NULL, "Groups of that level."),
    FIELD(profile_fusion, critical_groups, U32, COUNT, NULL, "Groups of the critical path."),
    FIELD(profile_fusion, critical_flops, U64, FLOPS, NULL, "Their FLOPs."),
    FIELD(profile_fusion, critical_bytes, U64, BYTES, NULL, "Their bytes."),
    FIELD(profile_fusion, concurrency, F64, RATIO, NULL,
          "FLOPs of all groups over those of the critical path.", OR_NULL),
    FIELD_ITEMS(profile_fusion, LIST, "kinds", kinds, n_kinds, kind_fields,
                "Groups by kind, most bytes saved first.", ONE_LINE),
    FIELD_STRUCT(profile_fusion, "engine", engine, engine_fields,
                 "Groups compared with the engine's kernels."),
};
static const fields summary_fields = FIELDS_AS(profile_fusion, "fusion", summary_rows);

static const field fusion_rows[] = {
    FIELD_ITEMS(profile_fusion, LIST, "groups", groups, n_groups, group_fields,
                "Groups that may each run as one kernel.", ONE_LINE),
    FIELD_INLINE("fusion", summary_fields, "Totals of the groups."),
};

static bool finish_fusion(field_reader *r, void *base)
{
    profile_fusion *f = base;
    for (uint32_t i = 0; i < f->n_groups; i++)
        for (uint32_t k = 0; k < f->groups[i].n_depends_on; k++)
            if (f->groups[i].depends_on[k] >= f->n_groups)
                return fields_fail(r, "a group depends on one that \"groups\" lacks");
    f->strategy = f->strategy ? f->strategy : "";
    return true;
}
const fields fusion_fields = FIELDS(profile_fusion, fusion_rows, .finish = finish_fusion);

/* ---- patterns ---- */

static const field pattern_rows[] = {
    FIELD(profile_pattern, name, WORD, NONE, "Pattern", "layernorm, gelu, attention, ...",
          .flags = FIELD_NEEDED),
    FIELD(profile_pattern, form, WORD, NONE, "Form", "erf, tanh, mask, ..., or empty."),
    FIELD(profile_pattern, output, STR, NONE, "Output", "Layer that produces the result."),
    FIELD_VALUES(profile_pattern, STRS, "nodes", nodes, n_nodes, NONE, "Its layers, in order."),
    FIELD(profile_pattern, native, BOOL, NONE, NULL, "One operator of the file."),
    FIELD(profile_pattern, flops, U64, FLOPS, "FLOPs", "Its FLOPs."),
    FIELD(profile_pattern, macs, U64, MACS, "MACs", "Its MACs."),
};
FINISH_WORD(finish_pattern, profile_pattern, form, "")
const fields pattern_fields = FIELDS(profile_pattern, pattern_rows, .finish = finish_pattern);
