/* Architectures by the model_type of a config.json: rows that hold the library's defaults only. */
#include "zoo/zoo.h"

/* A new file is a word here. */
#define FAMILY_FILES(X)                                                                     \
    X(bert), X(gpt2), X(llama), X(neox), X(bloom), X(deepseek), X(t5), X(whisper), X(clip), \
        X(hf_vision), X(unet), X(vae), X(pixart), X(mmdit), X(flux), X(gpts), X(bart), X(siglip)

#define NAME(file)    zoo_##file##_families
#define ADDRESS(file) &zoo_##file##_families
extern const zoo_rows FAMILY_FILES(NAME);
static const zoo_rows *const tables[] = {FAMILY_FILES(ADDRESS)};

const zoo_row *zoo_family_at(uint32_t index)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (index < tables[i]->n)
            return &tables[i]->rows[index];
        index -= tables[i]->n;
    }
    return NULL;
}

const zoo_row *zoo_find_family(str model_type)
{
    const zoo_row *row;
    for (uint32_t i = 0; (row = zoo_family_at(i)); i++)
        if (str_is(model_type, row->family))
            return row;
    return NULL;
}
