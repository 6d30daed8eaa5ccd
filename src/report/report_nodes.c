/* Costs of the layers for programs that draw graphs.
 *
 * "netron": an attachment of Netron (https://github.com/lutzroeder/netron, class metadata.Attachment of source/view.js).
 * Open the model in Netron, then the attachment: the sidebar of a node lists its costs.
 *
 *   {"signature": "netron:attachment",
 *    "metadata": [{"kind": "model", "target": "", "name": "tool", "value": "assay 0.1.0"}, ...],
 *    "metrics":  [{"kind": "node", "target": NODE NAME, "name": "flops", "value": 239904}, ...]}
 *
 * Netron compares `target` with the first line of a name. The first output of each node has the same entries ("kind":
 * "value"): nodes need not have a name in the file, and those of TensorFlow Lite have none.
 *
 * "modelexplorer": custom node data of Model Explorer (https://github.com/google-ai-edge/model-explorer,
 * GraphNodeData of node_data_builder.py). Its format has one number per node: the measured time, else the time that a
 * device is predicted to need, else FLOPs. `name` says which.
 *
 *   {"name": "FLOPs", "gradient": [{"stop": 0, "bgColor": "#f7fbff"}, ...],
 *    "results": {OUTPUT NAME: {"value": 239904}, ...}}
 *
 * Keys are names of output tensors. An object that maps graphs to such objects is valid too; Model Explorer recognises
 * it by the absence of `results`, or by a key `results` in it, so no node may be keyed by that word.
 *
 * A name that several layers have says nothing about one of them: it is left out. Costs that are unknown are left out
 * of the attachment, and are the text "unknown" in node data.
 */
#include <math.h>
#include <stddef.h>

#include "base/json_write.h"
#include "base/map.h"
#include "report/report.h"

enum { NODES_BYTES = 1 << 30 };

typedef struct node_writer {
    const profile *p;
    json_writer w;
    arena *arena;
    map names;            /* of layers, with how many have it */
    double *predicted_ms; /* [n_layers]; NULL: none */
} node_writer;

/* ---- names ---- */

static bool count_name(map *names, str name)
{
    bool is_new;
    uint32_t *n = map_at(names, name, 0, &is_new);
    if (n)
        ++*n;
    return n;
}

static bool is_only(const map *names, str name)
{
    return name.n && map_get(names, name) == 1;
}

static str first_line(str s)
{
    uint32_t n = 0;
    while (n < s.n && s.p[n] != '\n')
        n++;
    return (str){s.p, n};
}

static str output_name(const profile_layer *l)
{
    return l->n_outputs ? l->outputs[0].name : (str){0};
}

static str netron_name(const profile_layer *l)
{
    return first_line(l->name);
}

static str netron_value(const profile_layer *l)
{
    return first_line(output_name(l));
}

static str explorer_key(const profile_layer *l)
{
    const str out = output_name(l);
    return out.n && !str_is(out, "results") ? out : l->name;
}

static bool count_names(node_writer *x, map *names, str (*of)(const profile_layer *))
{
    bool ok = map_init(names, x->arena, x->p->n_layers);
    for (uint32_t i = 0; ok && i < x->p->n_layers; i++)
        ok = count_name(names, of(&x->p->layers[i]));
    return ok;
}

/* ---- times ---- */

static bool is_measured(const profile *p)
{
    return p->measured && p->measured->ledger.present;
}

static double measured_ms(const node_writer *x, uint32_t i)
{
    return is_measured(x->p) ? x->p->layers[i].time_ms : NAN;
}

static double predicted_ms(const node_writer *x, uint32_t i)
{
    return x->predicted_ms ? x->predicted_ms[i] : NAN;
}

/* ---- Netron ---- */

typedef struct netron_target {
    const char *kind;
    str name;
} netron_target;

static void begin_entry(node_writer *x, netron_target to, const char *name)
{
    json_flat_object(&x->w);
    key_cstr(&x->w, "kind", to.kind);
    key_str(&x->w, "target", to.name);
    key_cstr(&x->w, "name", name);
    json_key(&x->w, "value");
}

static void put_count(node_writer *x, netron_target to, const char *name, uint64_t v)
{
    begin_entry(x, to, name);
    json_u64(&x->w, v);
    json_end(&x->w);
}

static void put_real(node_writer *x, netron_target to, const char *name, double v)
{
    if (!isfinite(v))
        return;
    begin_entry(x, to, name);
    json_f64(&x->w, v);
    json_end(&x->w);
}

static void put_text(node_writer *x, netron_target to, const char *name, str v)
{
    begin_entry(x, to, name);
    json_str(&x->w, v);
    json_end(&x->w);
}

static const struct {
    const char *name;
    size_t at; /* of a uint64_t in profile_layer */
} counts[] = {{"flops", offsetof(profile_layer, flops)},
              {"macs", offsetof(profile_layer, macs)},
              {"parameters", offsetof(profile_layer, parameters)},
              {"memory", offsetof(profile_layer, memory)}};

static void put_costs(node_writer *x, netron_target to, const profile_layer *l)
{
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        put_count(x, to, counts[k].name, *(const uint64_t *)((const char *)l + counts[k].at));
    put_real(x, to, "arithmetic_intensity", l->arithmetic_intensity);
    put_text(x, to, "bottleneck", str_of(bound_words[l->compute_bound]));
    if (x->p->total_flops)
        put_real(x, to, "flops_percent", 100.0 * (double)l->flops / (double)x->p->total_flops);
    if (l->times > 1)
        put_count(x, to, "times", l->times);
}

static void put_netron_target(node_writer *x, uint32_t i, netron_target to)
{
    const profile_layer *l = &x->p->layers[i];
    put_text(x, to, "operator", l->op);
    if (l->certainty != PROFILE_UNKNOWN)
        put_costs(x, to, l);
    put_text(x, to, "certainty", str_of(profile_certainty_name(l->certainty)));
    put_real(x, to, "time_ms", measured_ms(x, i));
    put_real(x, to, "percent_of_roof", is_measured(x->p) ? l->percent_of_roof : NAN);
    put_real(x, to, "predicted_time_ms", predicted_ms(x, i));
}

static void put_netron_layer(node_writer *x, uint32_t i, const map *values)
{
    const str node = netron_name(&x->p->layers[i]), value = netron_value(&x->p->layers[i]);
    if (is_only(&x->names, node))
        put_netron_target(x, i, (netron_target){"node", node});
    if (is_only(values, value))
        put_netron_target(x, i, (netron_target){"value", value});
}

static void put_netron_metadata(node_writer *x)
{
    const netron_target to = {"model", {0}};
    sbuf tool = {0};
    sbuf_printf(&tool, "assay " STR_FMT, STR_ARG(x->p->context.tool_version));
    json_key(&x->w, "metadata");
    json_array(&x->w);
    put_text(x, to, "costs_by", (str){tool.p, (uint32_t)tool.n});
    put_text(x, to, "lens", x->p->lens);
    json_end(&x->w);
    x->w.out->failed |= tool.failed;
    sbuf_free(&tool);
}

static void put_netron_totals(node_writer *x)
{
    const netron_target to = {"model", {0}};
    put_count(x, to, "flops", x->p->total_flops);
    put_count(x, to, "macs", x->p->total_macs);
    put_count(x, to, "parameters", x->p->total_parameters);
    put_count(x, to, "memory", x->p->total_memory);
}

static bool put_netron(node_writer *x)
{
    map values;
    if (!count_names(x, &x->names, netron_name) || !count_names(x, &values, netron_value))
        return false;
    json_object(&x->w);
    key_cstr(&x->w, "signature", "netron:attachment");
    put_netron_metadata(x);
    json_key(&x->w, "metrics");
    json_array(&x->w);
    put_netron_totals(x);
    for (uint32_t i = 0; i < x->p->n_layers; i++)
        put_netron_layer(x, i, &values);
    json_end(&x->w);
    json_end(&x->w);
    return true;
}

/* ---- Model Explorer ---- */

static void put_gradient(node_writer *x)
{
    static const struct {
        double stop;
        const char *color;
    } stops[] = {{0, "#f7fbff"}, {0.25, "#c6dbef"}, {0.5, "#6baed6"}, {1, "#08519c"}};
    json_key(&x->w, "gradient");
    json_array(&x->w);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        json_flat_object(&x->w);
        json_key(&x->w, "stop");
        json_f64(&x->w, stops[i].stop);
        key_cstr(&x->w, "bgColor", stops[i].color);
        json_end(&x->w);
    }
    json_end(&x->w);
}

static void put_explorer_value(node_writer *x, uint32_t i)
{
    const profile_layer *l = &x->p->layers[i];
    const double ms = is_measured(x->p) ? measured_ms(x, i) : predicted_ms(x, i);
    json_flat_object(&x->w);
    json_key(&x->w, "value");
    if (is_measured(x->p) || x->predicted_ms)
        json_f64(&x->w, isfinite(ms) ? ms : 0);
    else if (l->certainty == PROFILE_UNKNOWN)
        json_cstr(&x->w, "unknown");
    else
        json_u64(&x->w, l->flops);
    json_end(&x->w);
}

static bool put_explorer(node_writer *x)
{
    if (!count_names(x, &x->names, explorer_key))
        return false;
    json_object(&x->w);
    key_cstr(&x->w, "name",
             is_measured(x->p) ? "measured time, ms"
             : x->predicted_ms ? "predicted time, ms"
                               : "FLOPs");
    put_gradient(x);
    json_key(&x->w, "results");
    json_object(&x->w);
    for (uint32_t i = 0; i < x->p->n_layers; i++) {
        const str key = explorer_key(&x->p->layers[i]);
        if (!is_only(&x->names, key))
            continue;
        json_key_str(&x->w, key);
        put_explorer_value(x, i);
    }
    json_end(&x->w);
    json_end(&x->w);
    return true;
}

/* ---- all ---- */

static assay_status write_nodes(const profile *p, sbuf *out, bool (*put)(node_writer *),
                                assay_error *err)
{
    node_writer x = {.p = p, .arena = arena_new(NODES_BYTES)};
    double *ms = x.arena ? ARENA_ARRAY(x.arena, double, (size_t)p->n_layers + 1) : NULL;
    x.predicted_ms = ms && report_predicted_ms(p, ms) ? ms : NULL;
    json_begin(&x.w, out, 1);
    bool ok = ms && put(&x);
    sbuf_putc(out, '\n');
    arena_free(x.arena);
    return ok && !out->failed ? ASSAY_OK : err_no_memory(err);
}

assay_status report_netron(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    (void)o;
    return write_nodes(p, out, put_netron, err);
}

assay_status report_modelexplorer(const profile *p, const report_options *o, sbuf *out,
                                  assay_error *err)
{
    (void)o;
    return write_nodes(p, out, put_explorer, err);
}
