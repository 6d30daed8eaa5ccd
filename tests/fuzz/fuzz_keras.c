/* Keras from arbitrary bytes (HDF5, zip or JSON): a status for every input; what is accepted is a sound graph whose constants
 * lie within the file. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/format.h"
#include "formats/keras/keras.h"
#include "ir/verify.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_constants(const ir_model *m, uint64_t size)
{
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_tensor *t = ir_value_at(m, id)->constant;
        if (t && t->storage == IR_DATA_SLICE && (t->offset > size || t->length > size - t->offset))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const format_row row = {.reader = FORMAT_FOREIGN, .read = keras_read};
    assay_error err = {0};
    ir_model *m = NULL;
    if (format_read_bytes(&row, data, size, LIMIT_BYTES, &m, &err) != ASSAY_OK) {
        if (err.code == ASSAY_OK || !err.message[0])
            abort();
        return 0;
    }
    check_constants(m, size);
    if (ir_verify(m, &err) != ASSAY_OK && err.code != ASSAY_ERR_MALFORMED)
        abort();
    ir_model_free(m);
    return 0;
}
