/* Device files (CSV and JSON) and machine files: the first byte selects. Rows that are accepted pass the checks of the
 * built-in ones; a machine is written and read again the same. */
#include <stdint.h>
#include <stdlib.h>

#include "base/result.h"
#include "device/devices.h"
#include "device/machine.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void read_devices(str text, bool json)
{
    device_list list = {.arena = arena_new(LIMIT_BYTES)};
    assay_error err = {0};
    assay_status s = json ? devices_json(text, "fuzz.json", &list, &err)
                          : devices_csv(text, "fuzz.csv", &list, &err);
    promise(s == ASSAY_OK || (err.code == s && err.message[0]));
    arena_free(list.arena);
}

static void read_machine(str text)
{
    arena *a = arena_new(LIMIT_BYTES);
    machine *m = a ? ARENA_NEW(a, machine) : NULL, *again = a ? ARENA_NEW(a, machine) : NULL;
    assay_error err = {0};
    sbuf one = {0}, two = {0};
    if (again && result_read_as(&machine_kind, text, "fuzz", a, m, &err) == ASSAY_OK) {
        device d;
        machine_device(m, a, &d, &err);
        err_clear(&err);
        result_write(&machine_kind, m, 2, &one);
        promise(result_read_as(&machine_kind, (str){one.p, (uint32_t)one.n}, "one", a, again,
                               &err) == ASSAY_OK);
        result_write(&machine_kind, again, 2, &two);
        promise(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
    }
    sbuf_free(&one);
    sbuf_free(&two);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 18)
        return 0;
    const str text = {(const char *)data + 1, (uint32_t)size - 1};
    if (data[0] % 3 == 2)
        read_machine(text);
    else
        read_devices(text, data[0] % 3);
    return 0;
}
