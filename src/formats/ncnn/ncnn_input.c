/* Inputs of NCNN, most of which have no sizes in the file.
 *
 * Before sizes are chosen, the layers are run with such inputs unknown. A layer that knows what it reads says so (nc_want):
 * a product by the width of its weight, a recurrent layer by its state, attention by the keys and values before it. That is
 * handed back through copies, activations and sums to the input, and the run is repeated, because it makes more sizes
 * known. Inputs that nothing is said of are images: their side is the first usual one that fits.
 *
 * Lengths that no layer fixes are NC_TOKENS, or one new token behind NC_TOKENS where attention has a cache. */
#include <stdio.h>

#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

void nc_want(nc_op *o, uint32_t in, int rank, const int64_t *d)
{
    if (o->emit || in >= o->layer->n_in || rank < 1 || rank > NC_RANK)
        return;
    nc_blob *b = &o->r->blobs.items[o->layer->in[in]];
    for (int k = 0; k < rank; k++)
        if (d[k] < 1)
            return;
    if (!b->open || b->want.rank)
        return;
    b->want.rank = rank;
    for (int k = 0; k < rank; k++)
        b->want.d[k] = d[k];
    o->r->wants = true;
}

int64_t nc_tokens(const nc_op *o)
{
    return o->r->tokens ? o->r->tokens : o->r->cached ? 1 : NC_TOKENS;
}

/* ---- back to the input ---- */

/* Of layers whose inputs have the sizes of the output. */
bool nc_keeps_sizes(const nc_layer *l)
{
    return l->row && l->n_out &&
           (l->row->size == nc_size_like || l->row->size == nc_size_all_like ||
            l->row->size == nc_size_binary);
}

static void hand_back(nc_reader *r, const nc_layer *l)
{
    for (uint32_t k = 0; k < l->n_out; k++) {
        const nc_shape *want = &r->blobs.items[l->out[k]].want;
        for (uint32_t i = 0; want->rank && i < l->n_in; i++) {
            nc_blob *b = &r->blobs.items[l->in[i]];
            if (b->open && !b->want.rank)
                b->want = *want;
        }
    }
}

static assay_status find_wants(nc_reader *r)
{
    enum { ROUNDS = 8 };
    bool clash = false;
    for (uint32_t i = 0; i < r->blobs.n; i++)
        r->blobs.items[i].want.rank = 0;
    r->probing = true;
    for (int round = 0; round < ROUNDS; round++) {
        r->wants = false;
        TRY(nc_run_layers(r, false, &clash));
        if (!r->wants)
            break;
        for (uint32_t i = r->layers.n; i-- > 0;)
            if (nc_keeps_sizes(&r->layers.items[i]))
                hand_back(r, &r->layers.items[i]);
    }
    r->probing = false;
    return ASSAY_OK;
}

/* With the usual number of rows, or another one if that contradicts the file. */
assay_status nc_find_wants(nc_reader *r)
{
    static const int16_t rows[] = {0, 1, 64, 256, 16};
    bool clash = true;
    for (uint32_t i = 0; i < r->layers.n; i++) {
        nc_op at = {.layer = &r->layers.items[i]};
        r->cached |= str_is(at.layer->type, "SDPA") && nc_int(&at, 7, 0);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows && clash; i++) {
        r->tokens = rows[i];
        TRY(find_wants(r));
        clash = false;
        TRY(nc_run_layers(r, false, &clash));
        if (r->sized)
            break; /* an image may be what contradicts */
    }
    if (clash && !r->sized) {
        r->tokens = 0;
        TRY(find_wants(r));
    }
    return ASSAY_OK;
}

/* ---- the layer ---- */

static int64_t kernel_channels(const nc_layer *l)
{
    nc_op at = {.layer = l};
    int64_t kw = nc_int(&at, 1, 0), kh = nc_int(&at, 11, kw), group = nc_int(&at, 7, 1), n, k;
    if (!num_mul(kw, kh, &k) || !num_mul(k, nc_int(&at, 0, 0), &n) || n < 1 || group < 1)
        return 3;
    return nc_int(&at, 6, 0) / n * group;
}

static int reads_at(const nc_layer *l, uint32_t blob)
{
    uint32_t n = str_is(l->type, "Concat") ? l->n_in : l->n_in > 0;
    for (uint32_t i = 0; i < n; i++)
        if (l->in[i] == blob)
            return (int)i;
    return -1;
}

static bool all_open(const nc_reader *r, const nc_layer *l)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (!r->blobs.items[l->in[i]].open)
            return false;
    return true;
}

/* Channels of one of several inputs that are joined: an equal part, or the last has what is left. */
static int64_t part_of(int64_t all, uint32_t n, int at)
{
    if (n < 2 || all % n == 0)
        return all / (n ? n : 1);
    int64_t each = all / (n - 1);
    return at + 1 < (int)n ? each : all - each * (n - 1);
}

/* Channels of the first convolution that reads the blob, perhaps behind a copy; 3: there is none. */
static int64_t wanted_channels(const nc_op *o, uint32_t blob)
{
    const nc_reader *r = o->r;
    int64_t parts = 1;
    uint32_t n = 1;
    int place = 0;
    for (uint32_t i = 0; i < r->layers.n; i++) {
        const nc_layer *l = &r->layers.items[i];
        int at = reads_at(l, blob);
        if (at < 0)
            continue;
        if (str_starts(l->type, "Convolution"))
            return part_of(kernel_channels(l) / parts, n, place);
        if (str_is(l->type, "Concat")) {
            if (n > 1 || !all_open(r, l))
                return 3;
            n = l->n_in;
            place = at;
        }
        parts *= str_is(l->type, "YoloV5Focus") ? 4 : 1;
        blob = l->n_out ? l->out[0] : blob;
    }
    return 3;
}

static bool open_input(nc_op *o, uint32_t i)
{
    nc_reader *r = o->r;
    nc_blob *b = &r->blobs.items[o->layer->out[i]];
    b->open = true;
    if (b->want.rank)
        return nc_set(o, i, b->want.rank, b->want.d);
    if (r->probing)
        return false;
    int64_t side = r->side ? r->side : -1;
    int64_t d[] = {wanted_channels(o, o->layer->out[i]), side, r->width ? r->width : side};
    r->sized = true;
    return nc_set(o, i, 3, d);
}

bool nc_size_input(nc_op *o)
{
    int64_t d[NC_RANK];
    int n = nc_keyed_sizes(o, d);
    bool known = true;
    o->r->images |= n == 3;
    for (uint32_t i = 0; i < o->layer->n_out; i++)
        known &= n == 0 || (o->r->override && n == 3) ? open_input(o, i) : nc_set(o, i, n, d);
    return known;
}

static void note_assumed(nc_op *o, uint32_t i, bool wrong)
{
    char text[128] = "1";
    int n = 1;
    for (int k = 0; k < o->out[i].rank && n < (int)sizeof text - 24; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "×%lld", (long long)o->out[i].d[k]);
    o->r->f.m->input_assumed = true;
    notes_add(&o->r->f.m->notes, "assumed-input", o->r->blobs.items[o->layer->out[i]].name,
              "Use --input-shape to set another size.",
              "%s %s is assumed; the sizes in the file do not contradict it.",
              wrong ? "The size of this input in the file does not fit its layers."
                    : "The file has no size for this input.",
              text);
}

bool nc_input(nc_op *o)
{
    nc_reader *r = o->r;
    int64_t size = nc_int(o, 0, 0);
    bool stated = size && size != NC_UNSET, ok = true;
    for (uint32_t i = 0; ok && i < o->l.n_out; i++) {
        bool wrong = stated && r->override && o->out[i].rank == 3;
        bool wanted = r->blobs.items[o->layer->out[i]].want.rank > 0;
        if (wanted || ((!stated || wrong) && r->side))
            note_assumed(o, i, wrong);
        ok = ir_add_input(r->f.m, 0, o->l.out[i]);
    }
    return ok;
}
