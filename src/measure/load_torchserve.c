/* TorchServe's inference API: POST /predictions/NAME with the bytes of an input. The server has no description of its
 * inputs, so the body is the user's. Failures are objects with "code", "type" and "message"
 * (https://pytorch.org/serve/inference_api.html). */
#include "base/json_tree.h"
#include "measure/load_protocol.h"

static bool fits_torchserve(str path)
{
    return str_starts(path, "/predictions/");
}

static assay_status open_torchserve(load_plan *p, assay_error *err)
{
    if (p->body.n || (p->n_items && p->items[0].body.n))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_USAGE,
                    "TorchServe does not describe its inputs. Give one with --body FILE.");
}

static void write_torchserve(load_call *c, rng *r, sbuf *out)
{
    load_http_protocol.write(c, r, out);
}

static void end_torchserve(load_call *c)
{
    str body = {c->body.p, (uint32_t)c->body.n}, inside = str_trim(body);
    json_value v;
    if (!inside.n) {
        load_call_wrong(c, "the response is empty");
        return;
    }
    if (inside.p[0] != '{' && inside.p[0] != '[')
        return; /* any bytes */
    arena *work = arena_new((size_t)64 << 20);
    bool whole = work && json_tree_parse(body, "answer", &(json_tree_options){.lenient = true},
                                         work, &v, NULL) == ASSAY_OK;
    if (!whole)
        load_call_wrong(c, "the response is not JSON");
    else if (json_get(&v, "code") && json_get(&v, "type") && json_get(&v, "message"))
        load_call_wrong(c, "the response is an error");
    arena_free(work);
}

const load_protocol load_torchserve_protocol = {.name = "torchserve",
                                                .title = "TorchServe",
                                                .path = "/predictions/%s",
                                                .fits = fits_torchserve,
                                                .needs_model = true,
                                                .open = open_torchserve,
                                                .write = write_torchserve,
                                                .end = end_torchserve};
