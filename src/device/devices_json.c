/* Devices of one's own as JSON: an object with the columns of devices.csv as keys, a list of such objects,
 * or {"devices": [...]}. Numbers may be null where they are not known.
 */
#include <jansson.h>
#include <stdio.h>

#include "device/devices.h"

static assay_status set_key(device *d, const char *key, const json_t *v, const char *shown,
                            arena *a, assay_error *err)
{
    char digits[40] = "";
    if (json_is_string(v))
        return device_set(d, str_of(key),
                          (str){json_string_value(v), (uint32_t)json_string_length(v)}, shown, a,
                          err);
    if (json_is_integer(v))
        snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(digits, sizeof digits, "%.17g", json_real_value(v));
    else if (!json_is_null(v))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: '%.60s' is neither a number nor a text.",
                        shown, key);
    for (char *p = digits; *p; p++)
        if (*p == ',')
            *p = '.'; /* the host program's locale */
    return device_set(d, str_of(key), str_of(digits), shown, a, err);
}

static assay_status add_object(json_t *o, const char *shown, device_list *out, assay_error *err)
{
    device d = {0};
    const char *key;
    json_t *v;
    if (!json_is_object(o))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: a device is an object of fields.", shown);
    json_object_foreach(o, key, v) TRY(set_key(&d, key, v, shown, out->arena, err));
    return device_add(out, &d, shown, err);
}

static assay_status add_all(json_t *root, const char *shown, device_list *out, assay_error *err)
{
    json_t *list = json_object_get(root, "devices");
    if (!list)
        list = root;
    if (!json_is_array(list))
        return add_object(list, shown, out, err);
    for (size_t i = 0; i < json_array_size(list); i++)
        TRY(add_object(json_array_get(list, i), shown, out, err));
    return ASSAY_OK;
}

assay_status devices_json(str text, const char *shown, device_list *out, assay_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return err_fail_at(err, ASSAY_ERR_MALFORMED,
                           where.position > 0 ? (uint64_t)where.position : 0,
                           "%s is not JSON: %s (line %d, column %d).", shown, where.text,
                           where.line, where.column);
    assay_status s = add_all(root, shown, out, err);
    json_decref(root);
    return s;
}
