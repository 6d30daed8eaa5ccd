/* See axis_roles.h. Two tables: roles by name with their usual sizes, and layouts of images. */
#include "analyze/axis_roles.h"

#include <string.h>

/* ---- roles ---- */

/* Looked through in this order against a dimension's name. When the shapes that follow from the first size contradict
 * each other (a kernel larger than its input, a side that must be a multiple of 64), the next is tried. */
static const struct role_row {
    const char
        *words[8]; /* any of them in the lower-case name; of the batch see axis_names_batch() */
    const char *name;
    int64_t sizes[AXIS_SIZES];
} roles[] = {
    [AXIS_BATCH] = {{"batch", "num_images"}, "batch", {1, 1, 1, 1, 1, 1}},
    [AXIS_PAST] = {{"past", "cache", "kv_len", "history"},
                   "past length",
                   {128, 512, 64, 1, 16, 1024}},
    [AXIS_SEQUENCE] = {{"seq", "token", "len", "time", "steps", "frames"},
                       "sequence length",
                       {128, 512, 1024, 16000, 64, 1}},
    [AXIS_SIDE] = {{"height", "width", "img", "image", "side"},
                   "image side",
                   {224, 256, 512, 640, 64, 32}},
    [AXIS_CHANNELS] = {{"channel"}, "channels", {3, 1, 4, 3, 1, 1}},
    [AXIS_SAMPLES] = {{"sample", "audio", "wave"},
                      "audio samples",
                      {16000, 512, 1536, 48000, 160000, 160}},
    [AXIS_STEP] = {{NULL}, "new tokens", {1, 1, 16, 128, 64, 1}},
    [AXIS_FRAMES] = {{NULL}, "frames", {16, 8, 32, 64, 4, 1}},
    [AXIS_VIDEO_SIDE] = {{NULL}, "video side", {112, 224, 256, 128, 64, 32}},
    [AXIS_SIZE] = {{NULL}, "size", {1, 128, 512, 16000, 64, 1024}},
};

const char *axis_role_name(axis_role r)
{
    return roles[r].name;
}

int64_t axis_role_size(axis_role r, int attempt)
{
    return roles[r].sizes[attempt];
}

static bool holds_any(str name, const char *const *words)
{
    for (; *words; words++)
        if (str_contains_any_case(name, *words))
            return true;
    return false;
}

bool axis_names_batch(str symbol)
{
    if (symbol.n == 2 && str_contains_any_case(symbol, "bs"))
        return true;
    for (uint32_t k = 0; k < symbol.n; k++)
        if (strchr("+-*/() ", symbol.p[k]))
            return false;
    return holds_any(symbol, roles[AXIS_BATCH].words);
}

axis_role axis_role_by_name(str symbol)
{
    if (axis_names_batch(symbol))
        return AXIS_BATCH;
    for (int r = AXIS_BATCH + 1; symbol.n && r < AXIS_NONE; r++)
        if (holds_any(symbol, roles[r].words))
            return (axis_role)r;
    return AXIS_NONE;
}

bool axis_names_other(str symbol)
{
    axis_role r = axis_role_by_name(symbol);
    return r != AXIS_BATCH && r != AXIS_NONE;
}

/* ---- caches, masks, ids ---- */

bool axis_names_cache(str input)
{
    static const char *const words[] = {"past_key", "past_value", "past_self", NULL};
    return holds_any(input, words);
}

bool axis_names_mask(str input)
{
    return str_contains_any_case(input, "mask");
}

int64_t axis_cached_tokens(const axis_input *in)
{
    static const char *const others[] = {"encoder.", "cross", NULL};
    bool own = axis_names_cache(in->name) && !holds_any(in->name, others);
    return own && in->rank == 4 ? in->dims[2] : -1;
}

int axis_of_ids(ir_dtype dtype, int rank, int batch)
{
    if (!ir_is_integer(dtype) || rank != 2)
        return -1;
    return batch == 1 ? 0 : 1;
}

/* ---- images ---- */

enum { SIDE_LEAST = 9, DIMS_MOST = 5 };

/* Numbers of channels, as bits. */
#define ANY_CHANNELS (1u << 1 | 1u << 2 | 1u << 3 | 1u << 4)
#define RGB_OR_GREY  (1u << 1 | 1u << 3 | 1u << 4)
#define RGB          (1u << 3)

static const struct layout {
    int rank, channels, frames, height, width;
    unsigned known, unknown; /* numbers of channels where the batch is known, and where it is not */
} layouts[] = {
    {4, 1, -1, 2, 3, ANY_CHANNELS, ANY_CHANNELS}, {4, 3, -1, 1, 2, ANY_CHANNELS, ANY_CHANNELS},
    {5, 1, 2, 3, 4, ANY_CHANNELS, ANY_CHANNELS},  {5, 4, 1, 2, 3, ANY_CHANNELS, ANY_CHANNELS},
    {3, 0, -1, 1, 2, RGB_OR_GREY, RGB},           {3, 2, -1, 0, 1, RGB_OR_GREY, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static bool is_side(int64_t size)
{
    return size < 0 || size >= SIDE_LEAST; /* a side that is open is a side */
}

static bool has_layout(const struct layout *l, const axis_input *in, int batch)
{
    int64_t channels = in->dims[l->channels];
    unsigned counts = batch == AXIS_BATCH_UNKNOWN ? l->unknown : l->known;
    if (channels < 1 || channels > 4 || !(counts >> channels & 1))
        return false;
    return l->rank > 3 ||
           (batch < 0 && is_side(in->dims[l->height]) && is_side(in->dims[l->width]));
}

static image_axes axes_of(const struct layout *l, bool picture)
{
    return (image_axes){picture, l->channels, l->height, l->width, l->frames};
}

/* By type and sizes alone. */
static bool find_layout(const axis_input *in, int batch, image_axes *out)
{
    const struct layout *first = NULL;
    if (!ir_is_float(in->dtype) && in->dtype != IR_UINT8)
        return false;
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts[i].rank != in->rank)
            continue;
        if (has_layout(&layouts[i], in, batch)) {
            *out = axes_of(&layouts[i], true);
            return true;
        }
        /* Channels that are known tell the layout, however many they are. */
        if (!first || (in->dims[first->channels] < 0 && in->dims[layouts[i].channels] >= 0))
            first = &layouts[i];
    }
    if (!first || first->rank == 3)
        return false;
    *out = axes_of(first, false);
    return true;
}

bool axis_image(const axis_input *in, int batch, image_axes *out)
{
    static const char *const others[] = {"past", "cache", "mask", NULL};
    return !holds_any(in->name, others) && find_layout(in, batch, out);
}

/* Ranks above DIMS_MOST are no image's, and have no sizes here. */
static axis_input declared_input(const ir_value *v, int rank, int64_t dims[DIMS_MOST])
{
    for (int d = 0; d < rank && d < DIMS_MOST; d++)
        dims[d] = v->declared.dims ? v->declared.dims[d].value : -1;
    return (axis_input){v->name, v->declared.dtype, rank, dims};
}

bool axis_image_declared(const ir_value *input, int batch, image_axes *out)
{
    int64_t dims[DIMS_MOST];
    axis_input in = declared_input(input, input->declared.rank, dims);
    return axis_image(&in, batch, out);
}

/* ---- by place ---- */

static axis_role role_in_image(const image_axes *image, int axis)
{
    if (axis == image->channels)
        return AXIS_CHANNELS;
    if (axis == image->frames)
        return AXIS_FRAMES;
    return image->frames < 0 ? AXIS_SIDE : AXIS_VIDEO_SIDE;
}

axis_role axis_role_by_place(const ir_value *input, int rank, int axis)
{
    int64_t dims[DIMS_MOST];
    axis_input in = declared_input(input, rank, dims);
    bool real = ir_is_float(in.dtype) || in.dtype == IR_UINT8;
    image_axes image;
    if (axis == 0 && rank != 3)
        return AXIS_BATCH;
    if (find_layout(&in, AXIS_BATCH_UNKNOWN, &image))
        return role_in_image(&image, axis);
    if (axis == 0 || (rank == 3 && axis == 1 && dims[0] > 0))
        return AXIS_BATCH; /* the second place after a fixed one: a recurrent state */
    if (!real && rank >= 2 && axis == 1)
        return AXIS_SEQUENCE;
    if (real && rank == 2 && str_contains_any_case(in.name, "audio"))
        return AXIS_SAMPLES;
    return axis == 1 && rank == 3 ? AXIS_SEQUENCE : AXIS_SIZE;
}
