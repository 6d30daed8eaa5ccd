/* The pipelines that are built in, and the defaults of pipelines that come as directories. Sizes, steps, guidance and
 * prompt lengths are those of diffusers' pipelines and of the models' own cards. */
#include <ctype.h>

#include "study/pipeline.h"

typedef struct plan_row {
    const char *name, *aliases, *title;
    const char *hub; /* whole names of its repositories, which documents call it by */
    const char *denoiser, *component; /* a name of the catalogue; "unet" or "transformer" */
    const char *vae;                  /* with -encoder and -decoder behind it */
    const char *encoders[3];
    int64_t side, steps, tokens;
    double guidance;
    bool distilled, joins_clip;
} plan_row;

#define CLIP_L "clip-l-text"
#define CLIP_H "openclip-h-text"
#define CLIP_G "openclip-bigg-text"
#define T5_XXL "t5-xxl-encoder"

static const plan_row rows[] = {
    {"sd15", .hub = "stable-diffusion-v1-5/stable-diffusion-v1-5 runwayml/stable-diffusion-v1-5",
     .aliases = "sd14 stable-diffusion-v1-5 stable-diffusion-1.5", .title = "Stable Diffusion 1.5",
     .denoiser = "sd15-unet", .component = "unet", .vae = "sd-vae", .encoders = {CLIP_L},
     .side = 512, .steps = 50, .tokens = 77, .guidance = 7.5},
    {"sd21", .hub = "stabilityai/stable-diffusion-2-1-base",
     .aliases = "sd20 stable-diffusion-2-1 stable-diffusion-2.1", .title = "Stable Diffusion 2.1",
     .denoiser = "sd21-unet", .component = "unet", .vae = "sd-vae", .encoders = {CLIP_H},
     .side = 512, .steps = 50, .tokens = 77, .guidance = 7.5},
    {"sd-turbo", .hub = "stabilityai/sd-turbo", .title = "SD-Turbo", .denoiser = "sd21-unet",
     .component = "unet", .vae = "sd-vae", .encoders = {CLIP_H}, .side = 512, .steps = 1,
     .tokens = 77, .guidance = 0},
    {"sdxl", .hub = "stabilityai/stable-diffusion-xl-base-1.0",
     .aliases = "stable-diffusion-xl stable-diffusion-xl-base-1.0", .title = "Stable Diffusion XL",
     .denoiser = "sdxl-unet", .component = "unet", .vae = "sdxl-vae", .encoders = {CLIP_L, CLIP_G},
     .side = 1024, .steps = 50, .tokens = 77, .guidance = 5},
    {"sdxl-turbo", .hub = "stabilityai/sdxl-turbo", .title = "SDXL-Turbo", .denoiser = "sdxl-unet",
     .component = "unet", .vae = "sdxl-vae", .encoders = {CLIP_L, CLIP_G}, .side = 512, .steps = 1,
     .tokens = 77, .guidance = 0},
    {"sd3-medium", .hub = "stabilityai/stable-diffusion-3-medium-diffusers",
     .aliases = "sd3 stable-diffusion-3-medium", .title = "Stable Diffusion 3 Medium",
     .denoiser = "sd3-medium", .component = "transformer", .vae = "sd3-vae",
     .encoders = {"clip-l-projected", CLIP_G, T5_XXL}, .side = 1024, .steps = 28, .tokens = 256,
     .guidance = 7, .joins_clip = true},
    {"sd3.5-medium", .hub = "stabilityai/stable-diffusion-3.5-medium",
     .aliases = "stable-diffusion-3.5-medium", .title = "Stable Diffusion 3.5 Medium",
     .denoiser = "sd3.5-medium", .component = "transformer", .vae = "sd3-vae",
     .encoders = {"clip-l-projected", CLIP_G, T5_XXL}, .side = 1024, .steps = 28, .tokens = 256,
     .guidance = 7, .joins_clip = true},
    {"sd3.5-large", .hub = "stabilityai/stable-diffusion-3.5-large",
     .aliases = "stable-diffusion-3.5-large", .title = "Stable Diffusion 3.5 Large",
     .denoiser = "sd3.5-large", .component = "transformer", .vae = "sd3-vae",
     .encoders = {"clip-l-projected", CLIP_G, T5_XXL}, .side = 1024, .steps = 28, .tokens = 256,
     .guidance = 7, .joins_clip = true},
    {"flux-dev", .hub = "black-forest-labs/FLUX.1-dev", .aliases = "flux flux.1-dev",
     .title = "FLUX.1 dev", .denoiser = "flux-dev", .component = "transformer", .vae = "flux-vae",
     .encoders = {CLIP_L, T5_XXL}, .side = 1024, .steps = 28, .tokens = 512, .guidance = 3.5,
     .distilled = true},
    {"flux-schnell", .hub = "black-forest-labs/FLUX.1-schnell", .aliases = "flux.1-schnell",
     .title = "FLUX.1 schnell", .denoiser = "flux-schnell", .component = "transformer",
     .vae = "flux-vae", .encoders = {CLIP_L, T5_XXL}, .side = 1024, .steps = 4, .tokens = 256,
     .guidance = 0, .distilled = true},
    {"pixart-512", .hub = "PixArt-alpha/PixArt-XL-2-512x512", .aliases = "pixart-alpha-512",
     .title = "PixArt-alpha XL/2 512", .denoiser = "pixart-512", .component = "transformer",
     .vae = "sd-vae", .encoders = {T5_XXL}, .side = 512, .steps = 20, .tokens = 120,
     .guidance = 4.5},
    {"pixart-1024", .hub = "PixArt-alpha/PixArt-XL-2-1024-MS",
     .aliases = "pixart-alpha pixart-alpha-1024", .title = "PixArt-alpha XL/2 1024",
     .denoiser = "pixart-1024", .component = "transformer", .vae = "sd-vae", .encoders = {T5_XXL},
     .side = 1024, .steps = 20, .tokens = 120, .guidance = 4.5},
    {"pixart-sigma", .hub = "PixArt-alpha/PixArt-Sigma-XL-2-1024-MS",
     .aliases = "pixart-sigma-1024", .title = "PixArt-sigma XL/2 1024", .denoiser = "pixart-sigma",
     .component = "transformer", .vae = "sdxl-vae", .encoders = {T5_XXL}, .side = 1024, .steps = 20,
     .tokens = 300, .guidance = 4.5},
    {"dit-xl-2", .hub = "facebook/DiT-XL-2-256", .aliases = "dit dit-xl-2-256",
     .title = "DiT-XL/2 256", .denoiser = "dit-xl-2", .component = "transformer", .vae = "sd-vae",
     .side = 256, .steps = 50, .guidance = 4},
    {"dit-xl-2-512", .hub = "facebook/DiT-XL-2-512", .title = "DiT-XL/2 512",
     .denoiser = "dit-xl-2-512", .component = "transformer", .vae = "sd-vae", .side = 512,
     .steps = 50, .guidance = 4},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

uint32_t pipeline_count(void)
{
    return N_ROWS;
}

const char *pipeline_name_at(uint32_t index)
{
    return index < N_ROWS ? rows[index].name : NULL;
}

/* ---- names ---- */

/* '-', '_' and case are one, as zoo_find() has it. */
static bool same_name(str a, str b)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++) {
        int x = a.p[i] == '_' ? '-' : tolower((unsigned char)a.p[i]);
        int y = b.p[i] == '_' ? '-' : tolower((unsigned char)b.p[i]);
        if (x != y)
            return false;
    }
    return true;
}

static bool is_among(const char *list, str name)
{
    for (str rest = str_of(list), item; str_split(&rest, ' ', &item);)
        if (item.n && same_name(name, item))
            return true;
    return false;
}

static bool is_called(const plan_row *row, str name)
{
    return same_name(name, str_of(row->name)) || is_among(row->aliases, name) ||
           is_among(row->hub, name);
}

/* ---- plans ---- */

static void add_part(pipeline_plan *p, const char *name, pipeline_role role, const char *model)
{
    if (p->n == PIPELINE_COMPONENTS)
        return;
    pipeline_part *part = &p->parts[p->n++];
    *part = (pipeline_part){.name = str_of(name), .role = role, .model = str_of(model)};
    part->row = zoo_find(part->model);
    if (!part->row)
        part->problem = STR("its architecture is not built in");
}

static const char *encoder_of_vae(const char *vae, bool encoder)
{
    static const struct {
        const char *vae, *encoder, *decoder;
    } vaes[] = {
        {"sd-vae", "sd-vae-encoder", "sd-vae-decoder"},
        {"sdxl-vae", "sdxl-vae-encoder", "sdxl-vae-decoder"},
        {"sd3-vae", "sd3-vae-encoder", "sd3-vae-decoder"},
        {"flux-vae", "sd3-vae-encoder", "sd3-vae-decoder"},
    };
    for (size_t i = 0; i < sizeof vaes / sizeof *vaes; i++)
        if (strcmp(vaes[i].vae, vae) == 0)
            return encoder ? vaes[i].encoder : vaes[i].decoder;
    return vae;
}

static void fill_plan(const plan_row *row, pipeline_plan *out)
{
    static const char *const names[] = {"text_encoder", "text_encoder_2", "text_encoder_3"};
    *out = (pipeline_plan){.model = str_of(row->name),
                           .title = str_of(row->title),
                           .built_in = true,
                           .height = row->side,
                           .width = row->side,
                           .steps = row->steps,
                           .prompt_tokens = row->tokens,
                           .vae_scale = 8,
                           .guidance = row->guidance,
                           .distilled = row->distilled,
                           .joins_clip = row->joins_clip};
    for (int i = 0; i < 3 && row->encoders[i]; i++)
        add_part(out, names[i], ROLE_TEXT_ENCODER, row->encoders[i]);
    add_part(out, "vae_encoder", ROLE_VAE_ENCODER, encoder_of_vae(row->vae, true));
    add_part(out, row->component, ROLE_DENOISER, row->denoiser);
    add_part(out, "vae_decoder", ROLE_VAE_DECODER, encoder_of_vae(row->vae, false));
}

bool pipeline_find(str name, pipeline_plan *out)
{
    for (uint32_t i = 0; i < N_ROWS; i++)
        if (is_called(&rows[i], name)) {
            fill_plan(&rows[i], out);
            return true;
        }
    return false;
}

/* ---- directories ---- */

static const struct family_row {
    const char *family;
    int64_t side, steps, tokens;
    double guidance;
    bool joins_clip;
} families[] = {
    {"UNet2DConditionModel", 512, 50, 77, 7.5, false},
    {"PixArtTransformer2DModel", 1024, 20, 120, 4.5, false},
    {"Transformer2DModel", 512, 20, 120, 4.5, false},
    {"DiTTransformer2DModel", 256, 50, 0, 4.0, false},
    {"dit", 256, 50, 0, 4.0, false},
    {"SD3Transformer2DModel", 1024, 28, 256, 7.0, true},
    {"FluxTransformer2DModel", 1024, 28, 512, 3.5, false},
};

static const json_value *given(const pipeline_part *part, const char *key)
{
    const zoo_arg *arg = part->args ? zoo_args_get(part->args, key) : NULL;
    return arg && arg->value.kind != JSON_NULL ? &arg->value : NULL;
}

int64_t pipeline_arg(const pipeline_part *part, const char *key, int64_t def)
{
    const json_value *v = given(part, key);
    int64_t n;
    if (v && v->kind == JSON_LIST && v->n)
        v = &v->items[0];
    if (v && (v->kind == JSON_INT || v->kind == JSON_BOOL))
        return v->i;
    return part->row && zoo_default(part->row, key, &n) ? n : def;
}

static pipeline_role role_of(str name)
{
    if (str_is(name, "unet") || str_is(name, "transformer") || str_is(name, "denoiser"))
        return ROLE_DENOISER;
    if (str_starts(name, "text_encoder"))
        return ROLE_TEXT_ENCODER;
    return str_is(name, "vae") || str_is(name, "vae_decoder") ? ROLE_VAE_DECODER
           : str_is(name, "vae_encoder")                      ? ROLE_VAE_ENCODER
                                                              : ROLE_OTHER;
}

static void take_defaults(pipeline_plan *p, const pipeline_part *denoiser)
{
    for (size_t i = 0; denoiser->row && i < sizeof families / sizeof *families; i++) {
        const struct family_row *f = &families[i];
        if (strcmp(f->family, denoiser->row->family) != 0)
            continue;
        p->height = p->width = f->side;
        p->steps = f->steps;
        p->prompt_tokens = f->tokens;
        p->guidance = f->guidance;
        p->joins_clip = f->joins_clip;
    }
    bool flux = denoiser->row && strcmp(denoiser->row->family, "FluxTransformer2DModel") == 0;
    p->distilled = flux;
    if (flux && !pipeline_arg(denoiser, "guidance_embeds", 0)) {
        p->steps = 4;
        p->prompt_tokens = 256;
        p->guidance = 0;
    }
    if (given(denoiser, "addition_embed_type"))
        p->guidance = 5;
    int64_t side = pipeline_arg(denoiser, "sample_size", 0);
    if (side > 0 && side <= 1 << 15 && !flux)
        p->height = p->width = side * p->vae_scale;
}

assay_status pipeline_of_parts(str model, const pipeline_part *parts, uint32_t n,
                               pipeline_plan *out, assay_error *err)
{
    const pipeline_part *denoiser = NULL;
    *out = (pipeline_plan){.model = model,
                           .title = model,
                           .height = 512,
                           .width = 512,
                           .steps = 50,
                           .prompt_tokens = 77,
                           .vae_scale = 8,
                           .guidance = 7.5};
    if (n + 1 > PIPELINE_COMPONENTS)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "a pipeline of %u components is too large", n);
    for (uint32_t i = 0; i < n; i++) {
        pipeline_part *part = &out->parts[out->n++];
        *part = parts[i];
        if (part->role == ROLE_OTHER && !part->calls)
            part->role = role_of(part->name);
        if (part->role == ROLE_DENOISER && !denoiser)
            denoiser = part;
        if (part->role == ROLE_VAE_DECODER && str_is(part->name, "vae")) {
            out->parts[out->n] = *part;
            out->parts[out->n].name = STR("vae_encoder");
            out->parts[out->n++].role = ROLE_VAE_ENCODER;
            part->name = STR("vae_decoder");
            const json_value *widths = given(part, "block_out_channels");
            if (widths && widths->kind == JSON_LIST && widths->n > 0 && widths->n < 9)
                out->vae_scale = (int64_t)1 << (widths->n - 1);
        }
    }
    if (!denoiser)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "'" STR_FMT "' has no denoiser (a component named unet or transformer)",
                        STR_ARG(model));
    take_defaults(out, denoiser);
    return ASSAY_OK;
}
