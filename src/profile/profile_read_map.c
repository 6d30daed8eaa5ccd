/* A model on devices, read back: `devices` are rows that name their hardware, which `map` describes. */
#include <math.h>

#include "profile/profile_read_impl.h"

static bool read_training_ms(reader *r, void *base)
{
    doc_place *p = base;
    p->row.trains = true;
    return scan_f64(&r->s, &p->row.training_step_ms);
}

static const read_row place_rows[] = {
    ROW_STR(doc_place, "name", device),
    ROW_WORD(doc_place, "precision", row.precision),
    ROW_I64(doc_place, "batch", row.batch, NULL_REFUSED),
    ROW_F64(doc_place, "latency_ms", row.latency_ms, NULL_NAN),
    ROW_F64(doc_place, "latency_low_ms", row.latency_low_ms, NULL_ZERO),
    ROW_F64(doc_place, "latency_high_ms", row.latency_high_ms, NULL_ZERO),
    ROW_F64(doc_place, "throughput", row.throughput, NULL_NAN),
    ROW_U64(doc_place, "memory_bytes", row.memory_bytes),
    ROW_BOOL(doc_place, "fits", row.fits),
    ROW_WORD(doc_place, "verdict", row.verdict),
    ROW_WORD(doc_place, "bound", row.bound),
    ROW_U64(doc_place, "weights_bytes", row.weights_bytes),
    ROW_U64(doc_place, "activations_bytes", row.activations_bytes),
    ROW_F64(doc_place, "energy_j_per_sample", row.energy_j, NULL_ZERO),
    ROW_U64(doc_place, "training_memory_bytes", row.training_memory_bytes),
    ROW_BOOL(doc_place, "training_fits", row.training_fits),
    ROW_CALL("training_step_ms", read_training_ms),
    ROW_F64(doc_place, "compute_bound_percent", row.compute_percent, NULL_NAN),
    ROW_F64(doc_place, "memory_bound_percent", row.memory_percent, NULL_NAN),
    ROW_F64(doc_place, "overhead_bound_percent", row.overhead_percent, NULL_NAN),
    ROW_F64(doc_place, "percent_of_peak", row.percent_of_peak, NULL_NAN),
    ROW_F64(doc_place, "gain_from_10_percent_flops", row.gain_flops_percent, NULL_NAN),
    ROW_F64(doc_place, "gain_from_10_percent_bandwidth", row.gain_bandwidth_percent, NULL_NAN),
    ROW_WORD(doc_place, "speed", row.speed),
    ROW_WORD(doc_place, "memory_class", row.memory_class),
    ROW_BOOL(doc_place, "pareto", row.pareto),
};

static const char *word(const char *s)
{
    return s ? s : "";
}

static bool finish_place(reader *r, void *base)
{
    (void)r;
    mapping_row *row = &((doc_place *)base)->row;
    row->precision = word(row->precision);
    row->verdict = word(row->verdict);
    row->bound = word(row->bound);
    row->speed = word(row->speed);
    row->memory_class = word(row->memory_class);
    return true;
}

const read_table read_place_table = {READ_TABLE(place_rows), .size = sizeof(doc_place),
                                     .finish = finish_place};

static bool finish_precision(reader *r, void *base)
{
    (void)r;
    mapping_precision *p = base;
    p->name = word(p->name);
    return true;
}

static const read_row precision_rows[] = {
    ROW_WORD(mapping_precision, "precision", name),
    ROW_F64(mapping_precision, "peak_ops_per_s", peak, NULL_NAN),
    ROW_F64(mapping_precision, "ridge", ridge, NULL_NAN),
    ROW_I64(mapping_precision, "largest_batch", largest_batch, NULL_MINUS_ONE),
    ROW_I64(mapping_precision, "largest_training_batch", largest_training_batch, NULL_MINUS_ONE),
};
static const read_table precision_table = {
    READ_TABLE(precision_rows), .size = sizeof(mapping_precision), .finish = finish_precision};

static bool read_precisions(reader *r, void *base)
{
    mapping_hardware *h = base;
    void *items;
    uint32_t n;
    if (!read_list(r, &precision_table, &items, &n))
        return false;
    if (n > MAPPING_PRECISIONS)
        return read_fail(r, "There are more precisions than this version knows.");
    if (n)
        memcpy(h->precisions, items, n * sizeof *h->precisions);
    h->n_precisions = n;
    return true;
}

/* Written in microseconds: the seconds that give them again when they are written again. */
static bool read_overhead(reader *r, void *base)
{
    double us, near;
    if (!scan_f64(&r->s, &us))
        return false;
    near = nextafter(nextafter(us / 1e6, -INFINITY), -INFINITY);
    for (int i = 0; i < 4 && near * 1e6 < us; i++)
        near = nextafter(near, INFINITY);
    ((mapping_hardware *)base)->overhead_s = near;
    return true;
}

static const read_row hardware_rows[] = {
    ROW_STR(mapping_hardware, "id", id),
    ROW_STR(mapping_hardware, "name", name),
    ROW_STR(mapping_hardware, "class", kind),
    ROW_F64(mapping_hardware, "memory_bytes", memory_bytes, NULL_ZERO),
    ROW_F64(mapping_hardware, "bandwidth_bytes_per_s", bandwidth, NULL_ZERO),
    ROW_F64(mapping_hardware, "tdp_w", power_w, NULL_ZERO),
    ROW_CALL("overhead_us", read_overhead),
    ROW_WORD(mapping_hardware, "widest_precision_that_fits", widest),
    ROW_WORD(mapping_hardware, "cheapest_precision_that_fits", cheapest),
    ROW_CALL("precisions", read_precisions),
    ROW_STR(mapping_hardware, "certainty", certainty),
    ROW_STR(mapping_hardware, "source", source),
};
static const read_table hardware_table = {READ_TABLE(hardware_rows),
                                          .size = sizeof(mapping_hardware)};

static const read_row pareto_rows[] = {
    ROW_WORD(doc, "goal", map.goal),
    ROW_WORD(doc, "against", map.against),
    ROW_F64(doc, "limit", map.limit, NULL_ZERO),
    ROW_WORD(doc, "limit_unit", map.goal_unit),
    {.key = "left_out_power_unknown", .kind = READ_U32, .at = offsetof(doc, map.n_no_power)},
    ROW_NUMBERS(doc, "rows", READ_U64S, pareto, n_pareto),
};
static const read_table pareto_table = {READ_TABLE(pareto_rows)};

static bool finish_skipped(reader *r, void *base)
{
    (void)r;
    mapping_skipped *s = base;
    s->precision = word(s->precision);
    return true;
}

static const read_row skipped_rows[] = {
    ROW_STR(mapping_skipped, "name", device),
    ROW_WORD(mapping_skipped, "precision", precision),
};
static const read_table skipped_table = {READ_TABLE(skipped_rows), .size = sizeof(mapping_skipped),
                                         .finish = finish_skipped};

static bool finish_layer(reader *r, void *base)
{
    (void)r;
    mapping_layer *l = base;
    l->bound = word(l->bound);
    return true;
}

static const read_row layer_rows[] = {
    ROW_STR(mapping_layer, "device", device),
    ROW_STR(mapping_layer, "name", name),
    ROW_STR(mapping_layer, "type", type),
    ROW_F64(mapping_layer, "time_ms", time_ms, NULL_NAN),
    ROW_WORD(mapping_layer, "bound", bound),
    ROW_F64(mapping_layer, "percent_of_peak", percent_of_peak, NULL_NAN),
};
static const read_table layer_table = {READ_TABLE(layer_rows), .size = sizeof(mapping_layer),
                                       .finish = finish_layer};

static const read_row calibration_rows[] = {
    ROW_STR(mapping_calibration, "device", device),
    ROW_STR(mapping_calibration, "engine", engine),
    ROW_F64(mapping_calibration, "median_error", median_error, NULL_NAN),
    ROW_F64(mapping_calibration, "interval_low", low, NULL_NAN),
    ROW_F64(mapping_calibration, "interval_high", high, NULL_NAN),
    ROW_U64(mapping_calibration, "runs", runs),
    ROW_F64(mapping_calibration, "known_percent", known_percent, NULL_NAN),
};
static const read_table calibration_table = {READ_TABLE(calibration_rows),
                                             .present = 1 + offsetof(mapping_calibration, present)};

static const read_row map_rows[] = {
    ROW_OBJECT(doc, "calibration", map.calibration, calibration_table),
    ROW_I64(doc, "fixed_batch", map.fixed_batch, NULL_ZERO),
    ROW_INLINE("pareto", pareto_table),
    ROW_LIST(doc, "hardware", map.hardware, map.n_hardware, hardware_table),
    ROW_LIST(doc, "skipped", map.skipped, map.n_skipped, skipped_table),
    ROW_LIST(doc, "layers", map.layers, map.n_all_layers, layer_table),
};
const read_table read_map_table = {READ_TABLE(map_rows), .present = 1 + offsetof(doc, has_map)};

static bool find_hardware(reader *r, const doc *d, str id, uint32_t *out)
{
    for (uint32_t i = 0; i < d->map.n_hardware; i++)
        if (str_eq(d->map.hardware[i].id, id)) {
            *out = i;
            return true;
        }
    return read_fail(r, "A row of \"devices\" names hardware that \"map\" does not describe.");
}

static bool finish_pareto(reader *r, doc *d, uint32_t *to)
{
    for (uint32_t i = 0; i < d->n_pareto; i++) {
        if (d->pareto[i] >= d->n_places)
            return read_fail(r, "\"map.pareto.rows\" names a row that \"devices\" does not have.");
        to[i] = (uint32_t)d->pareto[i];
    }
    d->map.pareto = to;
    d->map.n_pareto = d->n_pareto;
    return true;
}

bool read_finish_map(reader *r, doc *d)
{
    if (!d->has_map)
        return true;
    mapping_row *rows = ARENA_ARRAY(r->arena, mapping_row, d->n_places + 1);
    uint32_t *pareto = ARENA_ARRAY(r->arena, uint32_t, d->n_pareto + 1);
    d->p.mapping = ARENA_NEW(r->arena, profile_mapping);
    if (!rows || !pareto || !d->p.mapping)
        return read_no_memory(r);
    for (uint32_t i = 0; i < d->n_places; i++) {
        rows[i] = d->places[i].row;
        if (!find_hardware(r, d, d->places[i].device, &rows[i].hardware))
            return false;
    }
    d->map.rows = rows;
    d->map.n_rows = d->n_places;
    while (d->map.n_layers < d->map.n_all_layers &&
           str_eq(d->map.layers[d->map.n_layers].device, d->map.layers[0].device))
        d->map.n_layers++;
    if (!finish_pareto(r, d, pareto))
        return false;
    *d->p.mapping = d->map;
    return true;
}
