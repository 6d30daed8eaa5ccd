/* Custom devices as JSON: an object with the columns of devices.csv as keys, a list of such objects, or {"devices":
 * [...]}. Unknown numbers may be null. */
#include "base/json_tree.h"
#include "device/devices.h"

/* A number is set as written; null is an empty field. */
static assay_status set_key(device *d, const json_value *v, const char *shown, arena *a,
                            assay_error *err)
{
    if (v->kind != JSON_TEXT && v->kind != JSON_NULL && !json_is_number(v))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: '%.60s' must be a number or a string", shown,
                        v->key.p);
    return device_set(d, v->key, v->s, shown, a, err);
}

static assay_status add_object(const json_value *o, const char *shown, device_list *out,
                               assay_error *err)
{
    device d = {0};
    if (o->kind != JSON_OBJECT)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: a device must be an object of fields",
                        shown);
    for (uint32_t i = 0; i < o->n; i++)
        TRY(set_key(&d, &o->items[i], shown, out->arena, err));
    return device_add(out, &d, shown, err);
}

assay_status devices_json(str text, const char *shown, device_list *out, assay_error *err)
{
    json_value root;
    TRY(json_tree_parse(text, shown, NULL, out->arena, &root, err));
    const json_value *list = json_get(&root, "devices");
    if (!list)
        list = &root;
    if (list->kind != JSON_LIST)
        return add_object(list, shown, out, err);
    for (uint32_t i = 0; i < list->n; i++)
        TRY(add_object(&list->items[i], shown, out, err));
    return ASSAY_OK;
}
