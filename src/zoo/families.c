/* Architectures by the model_type of a config.json: rows that hold the library's defaults only. */
#include "zoo/zoo.h"

extern const zoo_rows zoo_bert_families;
extern const zoo_rows zoo_gpt2_families;
extern const zoo_rows zoo_llama_families;
extern const zoo_rows zoo_gpts_families;
extern const zoo_rows zoo_bart_families;
extern const zoo_rows zoo_siglip_families;
extern const zoo_rows zoo_neox_families;
extern const zoo_rows zoo_bloom_families;
extern const zoo_rows zoo_deepseek_families;
extern const zoo_rows zoo_t5_families;
extern const zoo_rows zoo_whisper_families;
extern const zoo_rows zoo_clip_families;
extern const zoo_rows zoo_hf_vision_families;
extern const zoo_rows zoo_unet_families;
extern const zoo_rows zoo_vae_families;
extern const zoo_rows zoo_pixart_families;
extern const zoo_rows zoo_mmdit_families;
extern const zoo_rows zoo_flux_families;

static const zoo_rows *const tables[] = {
    &zoo_bert_families,   &zoo_gpt2_families,      &zoo_llama_families, &zoo_neox_families,
    &zoo_bloom_families,  &zoo_deepseek_families,  &zoo_t5_families,    &zoo_whisper_families,
    &zoo_clip_families,   &zoo_hf_vision_families, &zoo_unet_families,  &zoo_vae_families,
    &zoo_pixart_families, &zoo_mmdit_families,     &zoo_flux_families,  &zoo_gpts_families,
    &zoo_bart_families,   &zoo_siglip_families,
};

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
