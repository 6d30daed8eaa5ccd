/* Plain HTTP: the method and the body that the user gives, or each line of --requests. An answer is good by its status,
 * and by --expect. */
#include "measure/load_protocol.h"

static void write_plain(load_call *c, rng *r, sbuf *out)
{
    const load_item *item = load_item_of(c->plan, c->number);
    str body = item && item->body.n ? item->body : c->plan->body;
    if (c->plan->has_template)
        load_write_template(c, r, body, out);
    else
        sbuf_str(out, body);
}

static assay_status open_plain(load_plan *p, assay_error *err)
{
    bool get = str_is(p->method, "GET") || str_is(p->method, "HEAD");
    if (get && (p->body.n || (p->n_items && p->items[0].body.n)))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "a " STR_FMT " request has no body. Use --method POST.",
                        STR_ARG(p->method));
    return ASSAY_OK;
}

const load_protocol load_http_protocol = {
    .name = "http", .title = "HTTP", .open = open_plain, .write = write_plain};
