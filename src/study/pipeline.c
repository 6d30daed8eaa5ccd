/* Running a plan: every component is built at the sizes of the settings, counted once, and multiplied by its
 * calls. Attention is told apart by what its operator and its neighbours are: QK and AV from the cost
 * vector, softmax from the size of the scores, projections from the linear layers of the same module;
 * cross-attention is where queries and keys differ in number, or the module is called so.
 */
#include "study/pipeline.h"

#include <inttypes.h>
#include <math.h>

#include "analyze/count.h"
#include "analyze/memory.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"

enum { CLIP_TOKENS = 77, SIDE_MAX = 1 << 17, STEPS_MAX = 1000000 };

typedef struct running {
    const pipeline_plan *plan;
    const pipeline_settings *s;
    arena *arena;
    pipeline_result *out;
    assay_error *err;
} running;

/* ---- attention ---- */

static str last_word(str module)
{
    for (uint32_t i = module.n; i > 0; i--)
        if (module.p[i - 1] == '.')
            return (str){module.p + i, module.n - i};
    return module;
}

static int64_t dim_at(const profile_layer *l, uint32_t input, int from_end)
{
    if (input >= l->n_inputs || l->inputs[input].shape.rank < from_end)
        return 0;
    return l->inputs[input].shape.dims[l->inputs[input].shape.rank - from_end];
}

static bool is_cross(const profile_layer *l, const char *family)
{
    str word = last_word(l->module);
    if (dim_at(l, 0, 2) != dim_at(l, 1, 2))
        return true;
    return (str_is(word, "attn2") && strcmp(family, "SD3Transformer2DModel") != 0) ||
           str_is(word, "EncDecAttention") || str_is(word, "encoder_attn");
}

static void take_attention(const profile_layer *l, pipeline_attention *a)
{
    int64_t head = dim_at(l, 0, 1);
    uint64_t scores = head > 0 ? l->ops.mac_qk / (uint64_t)head : 0;
    a->layers++;
    a->qk_macs = sat_add(a->qk_macs, l->ops.mac_qk);
    a->av_macs = sat_add(a->av_macs, l->ops.mac_av);
    a->softmax_elements = sat_add(a->softmax_elements, scores);
    a->softmax_flops = sat_add(a->softmax_flops, sat_mul(scores, 5));
}

/* The attention that a linear layer belongs to: that of its module or of one around it. */
static uint32_t owner(const map *modules, str module)
{
    for (int up = 0; up < 3 && module.n; up++) {
        uint32_t at = map_get(modules, module);
        if (at != MAP_NONE)
            return at;
        str word = last_word(module);
        if (word.n == module.n)
            return MAP_NONE;
        module.n -= word.n + 1;
    }
    return MAP_NONE;
}

static bool break_down(const profile *p, const char *family, arena *a, pipeline_component *c)
{
    map modules;
    if (!map_init(&modules, a, 64))
        return false;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        if (l->ops.mac_qk == 0 && l->ops.mac_av == 0)
            continue;
        bool cross = is_cross(l, family);
        take_attention(l, cross ? &c->attention.cross : &c->attention.self);
        if (!map_put(&modules, l->module, cross))
            return false;
    }
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        uint32_t kind = l->macs && !l->ops.mac_qk ? owner(&modules, l->module) : MAP_NONE;
        if (kind == MAP_NONE)
            continue;
        pipeline_attention *at = kind ? &c->attention.cross : &c->attention.self;
        at->projection_macs = sat_add(at->projection_macs, l->macs);
    }
    return true;
}

/* ---- one component ---- */

static assay_status put_sizes(zoo_args *args, const char *key, int n, const int64_t *values,
                              arena *a, assay_error *err)
{
    json_value *items = ARENA_ARRAY(a, json_value, (size_t)n);
    for (int i = 0; items && i < n; i++)
        items[i] = json_of_int(values[i]);
    json_value v = {.kind = JSON_LIST, .items = items, .n = (uint32_t)n};
    TRY_MEMORY(items && zoo_args_put(args, str_of(key), n == 1 ? items[0] : v, false), err);
    return ASSAY_OK;
}

static assay_status put_word(zoo_args *args, const char *key, const char *word, assay_error *err)
{
    const json_value v = json_of_text(str_of(word));
    return zoo_args_put(args, str_of(key), v, false) ? ASSAY_OK : err_no_memory(err);
}

static bool is_family(const pipeline_part *part, const char *family)
{
    return strcmp(part->row->family, family) == 0;
}

static int64_t denoiser_tokens(const running *r)
{
    return r->out->prompt_tokens + (r->plan->joins_clip ? CLIP_TOKENS : 0);
}

/* What the settings mean to a component, beside its own configuration. */
static assay_status sizes_for(const running *r, const pipeline_part *part, zoo_args *args, arena *a)
{
    const pipeline_result *out = r->out;
    const int64_t pixels[] = {out->height, out->width};
    const int64_t latents[] = {out->height / r->plan->vae_scale, out->width / r->plan->vae_scale};
    bool clip = is_family(part, "clip_text_model");
    int64_t tokens = clip ? pipeline_arg(part, "max_position_embeddings", CLIP_TOKENS)
                          : out->prompt_tokens;
    switch (part->role) {
    case ROLE_TEXT_ENCODER:
        if (is_family(part, "t5"))
            TRY(put_word(args, "architectures", "T5EncoderModel", r->err));
        return put_sizes(args, "seq_len", 1, &tokens, a, r->err);
    case ROLE_VAE_ENCODER:
        TRY(put_word(args, "part", "encoder", r->err));
        return put_sizes(args, "sample_size", 2, pixels, a, r->err);
    case ROLE_VAE_DECODER:
        TRY(put_word(args, "part", "decoder", r->err));
        return put_sizes(args, "sample_size", 2, pixels, a, r->err);
    case ROLE_DENOISER:
        tokens = denoiser_tokens(r);
        if (tokens > 0)
            TRY(put_sizes(args, "seq_len", 1, &tokens, a, r->err));
        return put_sizes(args, "latent_size", 2, latents, a, r->err);
    case ROLE_OTHER:
        return ASSAY_OK;
    }
    return ASSAY_OK;
}

static void keep_latent_shape(const profile *p, pipeline_result *out)
{
    const profile_shape *s = p->n_inputs ? &p->inputs[0].shape : NULL;
    if (!s || s->rank < 1 || s->rank > 8)
        return;
    out->latent_shape.rank = (uint32_t)s->rank;
    for (int i = 0; i < s->rank; i++)
        out->latent_shape.dims[i] = s->dims[i] < 0 ? FIELD_UNKNOWN : (uint64_t)s->dims[i];
    out->latent_shape.dims[0] = (uint64_t)out->batch;
}

static assay_status count_graph(const running *r, const ir_model *m, const pipeline_part *part,
                                arena *work, profile *p, pipeline_component *c)
{
    const count_options plain = {0};
    infer_result *inferred = NULL;
    counted of;
    TRY(infer_run(m, NULL, work, &inferred, r->err));
    infer_as_native(inferred);
    TRY(count_run(inferred, &plain, p, &of, r->err));
    TRY(memory_run(inferred, &of, IR_UNDEFINED, NULL, p, r->err));
    c->parameters = p->total_parameters;
    c->weight_bytes = p->architecture.weight_bytes;
    c->precision = str_copy(r->arena, profile_precision(p));
    c->macs = p->total_macs;
    c->flops = p->total_flops;
    c->memory = p->total_memory;
    c->activations_peak_bytes = p->memory_plan.activations_peak_bytes;
    if (part->role == ROLE_VAE_DECODER)
        keep_latent_shape(p, r->out);
    return break_down(p, part->row->family, work, c) ? ASSAY_OK : err_no_memory(r->err);
}

static assay_status measure(running *r, const pipeline_part *part, pipeline_component *c)
{
    ir_model *m = NULL;
    arena *work = arena_new(r->s->memory_limit);
    profile *p = profile_new(r->s->memory_limit);
    assay_status s = work && p ? ASSAY_OK : err_no_memory(r->err);
    zoo_args args;
    if (s == ASSAY_OK) {
        zoo_args_init(&args, work);
        s = zoo_args_copy(&args, part->args) ? sizes_for(r, part, &args, work)
                                             : err_no_memory(r->err);
    }
    const zoo_request q = {
        .row = part->row, .set = &args, .memory_limit = r->s->memory_limit, .lenient = true};
    if (s == ASSAY_OK)
        s = zoo_build(&q, &m, r->err);
    if (s == ASSAY_OK)
        s = count_graph(r, m, part, work, p, c);
    ir_model_free(m);
    profile_free(p);
    arena_free(work);
    return s;
}

static void leave_out(running *r, const pipeline_component *c)
{
    pipeline_result *out = r->out;
    str text = str_printf(r->arena, "Component " STR_FMT " is not counted: " STR_FMT,
                          STR_ARG(c->name), STR_ARG(c->error));
    out->enabled = false;
    out->partial = true;
    if (!out->error.n)
        out->error = text;
    notes_add(&out->warnings, "unknown-component", c->name,
              "Totals include the other components only.", STR_FMT, STR_ARG(text));
}

/* Components of a directory that cannot be counted are reported and skipped. */
static assay_status take_part(running *r, const pipeline_part *part, uint64_t calls)
{
    pipeline_result *out = r->out;
    pipeline_component *c = &out->components[out->n_components++];
    *c = (pipeline_component){.name = part->name,
                              .model = part->model,
                              .role = part->role,
                              .part = (uint32_t)(part - r->plan->parts),
                              .calls = calls,
                              .time_ms = NAN};
    if (!part->row) {
        c->error = part->problem.n ? part->problem : STR("unknown architecture");
    } else {
        assay_error mine;
        running inner = *r;
        err_clear(&mine);
        inner.err = &mine;
        assay_status s = measure(&inner, part, c);
        if (s == ASSAY_ERR_SYSTEM || (s != ASSAY_OK && r->plan->built_in))
            return err_fail(r->err, s, "%s", mine.message);
        if (s != ASSAY_OK)
            c->error = str_copy(r->arena, str_of(mine.message));
    }
    if (c->error.n)
        leave_out(r, c);
    c->total_macs = sat_mul(c->macs, calls);
    c->total_flops = sat_mul(c->flops, calls);
    return ASSAY_OK;
}

assay_status pipeline_component_args(const pipeline_plan *plan, const pipeline_result *r,
                                     const pipeline_component *c, arena *a, zoo_args *out,
                                     assay_error *err)
{
    pipeline_result sizes = *r;
    const running q = {.plan = plan, .arena = a, .out = &sizes, .err = err};
    const pipeline_part *part = &plan->parts[c->part];
    zoo_args_init(out, a);
    TRY_MEMORY(zoo_args_copy(out, part->args), err);
    TRY(sizes_for(&q, part, out, a));
    for (uint32_t i = 0; i < out->list.n; i++)
        out->list.items[i].lenient = out->list.items[i].silent = true;
    return ASSAY_OK;
}

/* ---- the program ---- */

static uint64_t calls_of(const pipeline_result *out, const pipeline_part *part)
{
    switch (part->role) {
    case ROLE_TEXT_ENCODER:
        return out->prompts;
    case ROLE_VAE_ENCODER:
        return out->strength > 0;
    case ROLE_DENOISER:
        return sat_mul((uint64_t)out->steps_run, out->passes_per_step);
    case ROLE_VAE_DECODER:
        return 1;
    case ROLE_OTHER:
        return (uint64_t)(part->calls > 0 ? part->calls : 0);
    }
    return 0;
}

static assay_status check_sizes(const running *r)
{
    const pipeline_result *o = r->out;
    int64_t scale = r->plan->vae_scale;
    if (o->height < scale || o->width < scale || o->height > SIDE_MAX || o->width > SIDE_MAX ||
        o->height % scale || o->width % scale)
        return err_fail(r->err, ASSAY_ERR_USAGE,
                        "invalid image size %lldx%lld: sides must be multiples of %lld, up to %d",
                        (long long)o->height, (long long)o->width, (long long)scale, SIDE_MAX);
    if (o->steps < 1 || o->steps > STEPS_MAX)
        return err_fail(r->err, ASSAY_ERR_USAGE, "steps must be 1 to %d", STEPS_MAX);
    return ASSAY_OK;
}

static bool only_clip(const pipeline_plan *p)
{
    bool clip = false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->parts[i].role != ROLE_TEXT_ENCODER || !p->parts[i].row)
            continue;
        if (!is_family(&p->parts[i], "clip_text_model"))
            return false;
        clip = true;
    }
    return clip;
}

static void settle(running *r)
{
    const pipeline_plan *p = r->plan;
    const pipeline_settings *s = r->s;
    pipeline_result *o = r->out;
    o->height = s->height ? s->height : s->width ? s->width : p->height;
    o->width = s->width ? s->width : s->height ? s->height : p->width;
    o->steps = s->steps ? s->steps : p->steps;
    o->batch = s->batch ? s->batch : 1;
    o->guidance_scale = s->guidance >= 0 ? s->guidance : p->guidance;
    o->strength = s->strength;
    o->prompt_tokens = s->prompt_tokens ? s->prompt_tokens : p->prompt_tokens;
    if (s->prompt_tokens && s->prompt_tokens != CLIP_TOKENS && only_clip(p)) {
        notes_add(&o->warnings, "prompt-length", (str){0}, NULL,
                  "CLIP pads or truncates every prompt to %d tokens. --prompt-tokens is ignored.",
                  CLIP_TOKENS);
        o->prompt_tokens = CLIP_TOKENS;
    }
    o->steps_run = o->steps;
    if (o->strength > 0 && o->strength < 1)
        o->steps_run = (int64_t)floor((double)o->steps * o->strength + 1e-9);
    bool guided = o->guidance_scale > 1 && !p->distilled;
    o->distilled = p->distilled;
    o->passes_per_step = guided ? 2 : 1;
    o->prompts = p->prompt_tokens > 0 ? (guided ? 2 : 1) : 0;
    o->input_shape = (pipeline_shape){
        4, {(uint64_t)o->batch, 3, (uint64_t)o->height, (uint64_t)o->width}};
}

static void add_up(pipeline_result *o)
{
    uint64_t images = (uint64_t)o->batch, macs = 0;
    for (uint32_t i = 0; i < o->n_components; i++) {
        pipeline_component *c = &o->components[i];
        macs = sat_add(macs, c->total_macs);
        o->total_flops = sat_add(o->total_flops, c->total_flops);
        if (c->calls || c->role != ROLE_VAE_ENCODER)
            o->all_parameters = sat_add(o->all_parameters, c->parameters);
        if (c->role == ROLE_DENOISER) {
            o->denoiser_parameters = sat_add(o->denoiser_parameters, c->parameters);
            o->macs_per_pass = sat_add(o->macs_per_pass, c->macs);
            o->flops_per_pass = sat_add(o->flops_per_pass, c->flops);
        } else if (c->role == ROLE_TEXT_ENCODER) {
            o->text_encoder_macs = sat_add(o->text_encoder_macs, sat_mul(c->total_macs, images));
            o->text_encoder_flops = sat_add(o->text_encoder_flops, sat_mul(c->total_flops, images));
        } else if (c->role != ROLE_OTHER) {
            o->vae_macs = sat_add(o->vae_macs, sat_mul(c->total_macs, images));
            o->vae_flops = sat_add(o->vae_flops, sat_mul(c->total_flops, images));
        }
    }
    for (uint32_t i = 0; i < o->n_components; i++)
        o->components[i].percent = macs ? 100.0 * (double)o->components[i].total_macs / (double)macs
                                        : 0.0;
    o->total_macs = sat_mul(macs, images);
    o->total_flops = sat_mul(o->total_flops, images);
    o->macs_per_step = sat_mul(sat_mul(o->macs_per_pass, o->passes_per_step), images);
    o->flops_per_step = sat_mul(sat_mul(o->flops_per_pass, o->passes_per_step), images);
    if (o->steps_run > 0) {
        o->amortised_macs_per_step = o->total_macs / (uint64_t)o->steps_run;
        o->amortised_flops_per_step = o->total_flops / (uint64_t)o->steps_run;
    }
}

/* An autoencoder from a directory stands in the plan twice, for its two halves. */
static bool left_out(const pipeline_result *o, const pipeline_part *part)
{
    return part->role == ROLE_VAE_ENCODER && o->strength <= 0;
}

assay_status pipeline_run(const pipeline_plan *plan, const pipeline_settings *s, arena *a,
                          pipeline_result *out, assay_error *err)
{
    running r = {.plan = plan, .s = s, .arena = a, .out = out, .err = err};
    *out = (pipeline_result){.kind = "diffusion",
                             .enabled = true,
                             .counted = true,
                             .model = plan->model,
                             .title = plan->title,
                             .inference_time_s = NAN,
                             .tflops_per_second = NAN};
    notes_init(&out->warnings, a);
    settle(&r);
    TRY(check_sizes(&r));
    for (uint32_t i = 0; i < plan->n; i++) {
        const pipeline_part *part = &plan->parts[i];
        if (part->role == ROLE_DENOISER)
            out->model_component = str_is(part->name, "unet") ? "unet" : "transformer";
        if (!left_out(out, part))
            TRY(take_part(&r, part, calls_of(out, part)));
    }
    add_up(out);
    return pipeline_settle(out, a) ? ASSAY_OK : err_no_memory(err);
}
