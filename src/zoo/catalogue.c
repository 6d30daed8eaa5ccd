/* Every built-in architecture: the one list of all row files. */
#include "zoo/zoo.h"

/* classification, convolutional */
extern const zoo_rows zoo_resnet_rows;
/* vision transformers, video */
/* segmentation, detection, flow */
/* restoration, language, diffusion */

const zoo_rows *const zoo_table[] = {
    /* classification, convolutional */
    &zoo_resnet_rows,
    /* vision transformers, video */
    /* segmentation, detection, flow */
    /* restoration, language, diffusion */
};
const uint32_t zoo_table_n = sizeof zoo_table / sizeof *zoo_table;
