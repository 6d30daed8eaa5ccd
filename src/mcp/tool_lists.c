/* list_models, list_devices: what can be asked about. */
#include <assay/device.h>
#include <inttypes.h>
#include <math.h>

#include "mcp/mcp.h"

enum { LISTED = 50 }; /* unless `limit` says otherwise */

static bool matches(const char *pattern, const char *const *texts)
{
    if (!pattern)
        return true;
    for (; *texts; texts++)
        if (str_contains_any_case(str_of(*texts), pattern))
            return true;
    return false;
}

/* "N of M models match; the first K are listed." */
static void put_counts(mcp_call *c, const char *what, uint64_t matching, uint64_t listed)
{
    key_u64(&c->data, "matching", matching);
    key_u64(&c->data, "listed", listed);
    if (listed < matching)
        sbuf_printf(&c->text,
                    "\n%" PRIu64 " more %s match. Set `pattern` or `limit` to see them.\n",
                    matching - listed, what);
    if (matching == 0)
        sbuf_printf(&c->text, "No %s match.\n", what);
}

/* ---- models ---- */

static void put_inputs(json_writer *w, const assay_model_info *m)
{
    json_key(w, "inputs");
    json_object(w);
    for (size_t i = 0; i < m->n_inputs && i < ASSAY_MODEL_INPUTS; i++) {
        json_key(w, m->inputs[i].name);
        json_array(w);
        for (int d = 0; d < m->inputs[i].rank; d++)
            json_i64(w, m->inputs[i].dims[d]);
        json_end(w);
    }
    json_end(w);
}

static void put_model(mcp_call *c, const assay_model_info *m)
{
    json_writer *w = &c->data;
    json_object(w);
    key_cstr(w, "name", m->name);
    key_cstr(w, "family", m->family);
    key_cstr(w, "task", m->task);
    key_u64(w, "parameters", m->parameters);
    key_u64(w, "macs", m->macs);
    key_u64(w, "flops", m->flops);
    put_inputs(w, m);
    json_end(w);
    sbuf_printf(&c->text, "| %s | %s | %s | %.2f | %.3f |\n", m->name, m->family, m->task,
                (double)m->parameters / 1e6, (double)m->macs / 1e9);
}

assay_status mcp_list_models(mcp_call *c, assay_error *err)
{
    const char *pattern = mcp_text(c, "pattern");
    uint64_t most = (uint64_t)mcp_whole(c, "limit", LISTED), matching = 0, listed = 0;
    assay_model_info m = {.size = sizeof m};
    sbuf_puts(&c->text,
              "| model | family | task | M parameters | GMACs |\n|---|---|---|---:|---:|\n");
    json_key(&c->data, "models");
    json_array(&c->data);
    for (size_t i = 0; assay_model_at(i, &m); i++) {
        if (!matches(pattern, (const char *[]){m.name, m.aliases, m.family, m.task, NULL}))
            continue;
        if (matching++ >= most)
            continue;
        TRY(assay_model_cost(i, &m, err));
        put_model(c, &m);
        listed++;
    }
    json_end(&c->data);
    put_counts(c, "models", matching, listed);
    return ASSAY_OK;
}

/* ---- devices ---- */

static void key_known(json_writer *w, const char *key, double v)
{
    json_key(w, key);
    if (isnan(v))
        json_null(w);
    else
        json_f64(w, v);
}

static void put_peaks(json_writer *w, const assay_device_info *d)
{
    json_key(w, "peak_operations_per_s");
    json_object(w);
    for (size_t i = 0; i < ASSAY_DEVICE_PRECISIONS && assay_device_precision(i); i++)
        key_known(w, assay_device_precision(i), d->peak[i]);
    json_end(w);
}

static void put_device(mcp_call *c, const assay_device_info *d)
{
    json_writer *w = &c->data;
    json_object(w);
    key_cstr(w, "id", d->id);
    key_cstr(w, "name", d->name);
    key_cstr(w, "class", d->kind);
    key_known(w, "memory_bytes", d->memory_bytes);
    key_known(w, "bandwidth_bytes_per_s", d->bandwidth);
    key_known(w, "power_w", d->power_w);
    put_peaks(w, d);
    key_cstr(w, "certainty", d->certainty);
    key_cstr(w, "source", d->source);
    json_end(w);
    sbuf_printf(&c->text, "| %s | %s | %s |\n", d->id, d->name, d->kind);
}

assay_status mcp_list_devices(mcp_call *c, assay_error *err)
{
    const char *pattern = mcp_text(c, "pattern");
    uint64_t most = (uint64_t)mcp_whole(c, "limit", LISTED), matching = 0, listed = 0;
    assay_device_info d = {.size = sizeof d};
    assay_devices *all = NULL;
    TRY(assay_devices_open("all", &all, err));
    sbuf_puts(&c->text, "| id | device | class |\n|---|---|---|\n");
    json_key(&c->data, "devices");
    json_array(&c->data);
    for (size_t i = 0; assay_devices_at(all, i, &d); i++) {
        if (!matches(pattern, (const char *[]){d.id, d.name, d.aliases, d.kind, NULL}) ||
            matching++ >= most)
            continue;
        put_device(c, &d);
        listed++;
    }
    json_end(&c->data);
    put_counts(c, "devices", matching, listed);
    assay_devices_free(all);
    return ASSAY_OK;
}
