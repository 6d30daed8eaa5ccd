/* Sizes of the blobs of NCNN, by the rules of its layers. A contradiction is marked (clash): with it, the size of an
 * input is not the one that the file was made for. */
#include <string.h>

#include "base/num.h"
#include "formats/ncnn/ncnn_impl.h"

/* ---- shapes ---- */

bool nc_set(nc_op *o, uint32_t i, int rank, const int64_t *d)
{
    if (i >= o->layer->n_out)
        return true;
    o->out[i].rank = rank;
    for (int k = 0; k < rank; k++) {
        o->out[i].d[k] = d[k] < 0 ? -1 : d[k];
        o->clash |= d[k] == 0 || d[k] < -1;
    }
    return true;
}

int nc_dims(const nc_shape *s, int64_t dims[NC_RANK + 1])
{
    dims[0] = 1;
    for (int k = 0; k < s->rank; k++)
        dims[k + 1] = s->d[k];
    return s->rank + 1;
}

int64_t nc_axis(const nc_shape *s, int64_t axis)
{
    axis = axis < 0 ? axis + s->rank : axis;
    return s->rank && axis >= 0 && axis < s->rank ? axis + 1 : -1;
}

static int64_t product(const nc_shape *s)
{
    int64_t n = 1;
    for (int k = 0; k < s->rank; k++)
        if (s->d[k] < 0 || !num_mul(n, s->d[k], &n))
            return -1;
    return s->rank ? n : -1;
}

bool nc_size_like(nc_op *o)
{
    for (uint32_t i = 0; i < o->layer->n_out; i++)
        o->out[i] = o->in[0];
    return o->in[0].rank > 0;
}

bool nc_size_all_like(nc_op *o)
{
    for (uint32_t i = 1; i < o->layer->n_in; i++)
        for (int k = 0; k < o->in[0].rank && o->in[i].rank == o->in[0].rank; k++)
            o->clash |= o->in[0].d[k] > 0 && o->in[i].d[k] > 0 && o->in[0].d[k] != o->in[i].d[k];
    return nc_size_like(o);
}

/* ---- inputs and constants ---- */

/* Sizes by the keys of w, h, d and c; the number of them. Unset ones end the list. */
int nc_keyed_sizes(const nc_op *o, int64_t *d)
{
    int64_t w = nc_int(o, 0, 0), h = nc_int(o, 1, 0), deep = nc_int(o, 11, 0), c = nc_int(o, 2, 0);
    w = w == NC_UNSET ? 0 : w;
    h = h == NC_UNSET ? 0 : h;
    deep = deep == NC_UNSET ? 0 : deep;
    c = c == NC_UNSET ? 0 : c;
    int n = c ? (deep ? 4 : 3) : h ? 2 : w ? 1 : 0, k = 0;
    if (n > 2)
        d[k++] = c;
    if (n > 3)
        d[k++] = deep;
    if (n > 1)
        d[k++] = h;
    if (n > 0)
        d[k++] = w;
    return n;
}

bool nc_size_memory(nc_op *o)
{
    int64_t d[NC_RANK];
    int n = nc_keyed_sizes(o, d);
    return n > 0 && nc_set(o, 0, n, d);
}

/* ---- windows ---- */

static int64_t window_size(int64_t size, int64_t kernel, int64_t dilation, int64_t stride,
                           int64_t begin, int64_t end)
{
    int64_t extent, sum;
    if (size < 0 || stride < 1)
        return -1;
    if (begin == -233 || begin == -234)
        return (size - 1) / stride + 1;
    if (!num_mul(dilation, kernel - 1, &extent) || !num_add(size, begin, &sum) ||
        !num_add(sum, end, &sum) || sum < extent + 1)
        return -2;
    return (sum - extent - 1) / stride + 1;
}

static bool takes_channels(nc_op *o, int64_t channels)
{
    int64_t kw = nc_int(o, 1, 0), kh = nc_int(o, 11, kw), n, group = nc_int(o, 7, 1);
    if (channels < 0 || !num_mul(kw, kh, &n) || !num_mul(n, nc_int(o, 0, 0), &n) || group < 1)
        return true;
    return num_mul(n, channels / group, &n) && (n == nc_int(o, 6, n) || !nc_int(o, 6, n));
}

bool nc_size_conv(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t k = nc_int(o, 1, 0), s = nc_int(o, 3, 1), p = nc_int(o, 4, 0), dil = nc_int(o, 2, 1);
    int64_t top = nc_int(o, 14, p);
    if (x->rank == 1 && k == 1) { /* one pixel */
        int64_t outputs = nc_int(o, 0, 0);
        return nc_set(o, 0, 1, &outputs);
    }
    if (x->rank != 3)
        return false;
    o->clash |= !takes_channels(o, x->d[0]);
    int64_t d[] = {nc_int(o, 0, 0),
                   window_size(x->d[1], nc_int(o, 11, k), nc_int(o, 12, dil), nc_int(o, 13, s), top,
                               nc_int(o, 16, top)),
                   window_size(x->d[2], k, dil, s, p, nc_int(o, 15, p))};
    return nc_set(o, 0, 3, d);
}

bool nc_size_conv1d(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t p = nc_int(o, 4, 0), n, group = nc_int(o, 7, 1);
    if (num_mul(nc_int(o, 1, 0), nc_int(o, 0, 0), &n) && n > 0 && group > 0)
        nc_want(o, 0, 2, (int64_t[]){nc_int(o, 6, 0) / n * group, nc_tokens(o)});
    if (x->rank != 2)
        return false;
    int64_t d[] = {nc_int(o, 0, 0), window_size(x->d[1], nc_int(o, 1, 0), nc_int(o, 2, 1),
                                                nc_int(o, 3, 1), p, nc_int(o, 15, p))};
    return nc_set(o, 0, 2, d);
}

static int64_t grown_size(int64_t size, int64_t kernel, int64_t dilation, int64_t stride,
                          int64_t pads, int64_t extra)
{
    int64_t n;
    if (size < 1 || !num_mul(size - 1, stride, &n) || kernel > 1 << 20 || dilation > 1 << 20)
        return -1;
    return n + dilation * (kernel - 1) + 1 - pads + extra;
}

bool nc_size_deconv(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t k = nc_int(o, 1, 0), s = nc_int(o, 3, 1), p = nc_int(o, 4, 0), dil = nc_int(o, 2, 1);
    int64_t top = nc_int(o, 14, p);
    if (x->rank != 3)
        return false;
    int64_t d[] = {nc_int(o, 0, 0),
                   grown_size(x->d[1], nc_int(o, 11, k), nc_int(o, 12, dil), nc_int(o, 13, s),
                              top + nc_int(o, 16, top), nc_int(o, 19, 0)),
                   grown_size(x->d[2], k, dil, s, p + nc_int(o, 15, p), nc_int(o, 18, 0))};
    if (nc_int(o, 20, 0) > 0 && nc_int(o, 21, 0) > 0) {
        d[1] = nc_int(o, 21, 0);
        d[2] = nc_int(o, 20, 0);
    }
    return nc_set(o, 0, 3, d);
}

/* pad_mode 0 rounds up, 1 down, 2 and 3 keep the size. */
static int64_t pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t pads, int64_t mode)
{
    if (size < 0 || stride < 1)
        return -1;
    if (mode == 2 || mode == 3)
        return (size - 1) / stride + 1;
    int64_t room = size + pads - kernel;
    return room < 0 ? -2 : room / stride + 1 + (mode == 0 && room % stride);
}

bool nc_size_pool(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t k = nc_int(o, 1, 0), s = nc_int(o, 2, 1), p = nc_int(o, 3, 0), mode = nc_int(o, 5, 0);
    int64_t top = nc_int(o, 13, p), wide = nc_int(o, 8, 0);
    if (x->rank != 3)
        return false;
    if (nc_int(o, 4, 0))
        return nc_set(o, 0, 1, x->d);
    int64_t d[] = {
        x->d[0],
        pooled_size(x->d[1], nc_int(o, 11, k), nc_int(o, 12, s), top + nc_int(o, 15, top), mode),
        pooled_size(x->d[2], k, s, p + nc_int(o, 14, p), mode)};
    if (nc_int(o, 7, 0)) {
        int64_t high = nc_int(o, 18, wide);
        d[1] = high == NC_UNSET ? x->d[1] : high;
        d[2] = wide == NC_UNSET ? x->d[2] : wide;
    }
    return nc_set(o, 0, 3, d);
}

/* ---- products ---- */

bool nc_size_dense(nc_op *o)
{
    int64_t outputs = nc_int(o, 0, 0);
    int64_t inputs = outputs > 0 ? nc_int(o, 2, 0) / outputs : -1, n = product(&o->in[0]);
    nc_want(o, 0, 1, &inputs);
    if (o->in[0].rank == 2 && o->in[0].d[1] == inputs) {
        int64_t d[] = {o->in[0].d[0], outputs};
        return nc_set(o, 0, 2, d);
    }
    o->clash |= n >= 0 && inputs >= 0 && n != inputs;
    return nc_set(o, 0, 1, &outputs);
}

static void broadcast(nc_op *o, const nc_shape *a, const nc_shape *b, int shift, nc_shape *to)
{
    *to = *a;
    for (int k = 0; k < b->rank; k++) {
        int at = k + shift;
        int64_t p = a->d[at], q = b->d[k];
        o->clash |= p > 1 && q > 1 && p != q;
        to->d[at] = p == 1 ? q : q == 1 || p > 0 ? p : -1;
    }
}

/* A blob of fewer axes stands at the outer ones, or where only those fit, at the inner ones. */
int nc_shift(const nc_shape *large, const nc_shape *small)
{
    bool outer = true, inner = true;
    int shift = large->rank - small->rank;
    for (int k = 0; shift >= 0 && k < small->rank; k++) {
        int64_t s = small->d[k];
        outer &= s == 1 || s < 0 || s == large->d[k];
        inner &= s == 1 || s < 0 || s == large->d[k + shift];
    }
    return outer || !inner ? 0 : shift;
}

bool nc_size_binary(nc_op *o)
{
    if (o->layer->n_in < 2)
        return nc_size_like(o);
    bool swap = o->in[0].rank < o->in[1].rank;
    const nc_shape *a = &o->in[swap ? 1 : 0], *b = &o->in[swap ? 0 : 1];
    if (a->rank == 0 || b->rank == 0)
        return false;
    broadcast(o, a, b, nc_shift(a, b), &o->out[0]);
    return true;
}

bool nc_size_matmul(nc_op *o)
{
    const nc_shape *a = &o->in[0], *b = &o->in[1];
    bool turned = nc_int(o, 0, 0) != 0;
    if (o->layer->n_in < 2 || a->rank < 2 || b->rank < 2)
        return false;
    const nc_shape *large = a->rank >= b->rank ? a : b;
    nc_shape to = *large;
    int64_t k = a->d[a->rank - 1], q = b->d[b->rank - (turned ? 1 : 2)];
    o->clash |= k > 0 && q > 0 && k != q;
    for (int i = 0; i < to.rank - 2; i++)
        to.d[i] = large->d[i];
    to.d[to.rank - 2] = a->d[a->rank - 2];
    to.d[to.rank - 1] = b->d[b->rank - (turned ? 2 : 1)];
    return nc_set(o, 0, to.rank, to.d);
}

/* A and B may be constants of the layer; M, N and K then are parameters. */
bool nc_size_gemm(nc_op *o)
{
    uint32_t slot = 0;
    bool const_a = nc_int(o, 4, 0) != 0, const_b = nc_int(o, 5, 0) != 0;
    int64_t d[] = {nc_int(o, 7, 0), nc_int(o, 8, 0)}, k = nc_int(o, 9, 0);
    bool turned = nc_int(o, 2, 0) != 0;
    if (!const_a && const_b && k > 0)
        nc_want(o, 0, 2, turned ? (int64_t[]){k, nc_tokens(o)} : (int64_t[]){nc_tokens(o), k});
    if (!const_a && slot < o->layer->n_in) {
        const nc_shape *a = &o->in[slot++];
        int64_t inner = a->rank >= 2 ? a->d[a->rank - (turned ? 2 : 1)] : -1;
        d[0] = a->rank >= 2 ? a->d[a->rank - (turned ? 1 : 2)] : -1;
        o->clash |= const_b && k > 0 && inner > 0 && inner != k;
    }
    if (!const_b && slot < o->layer->n_in) {
        const nc_shape *b = &o->in[slot];
        d[1] = b->rank >= 2 ? b->d[b->rank - (nc_int(o, 3, 0) ? 2 : 1)] : -1;
    }
    return d[0] && d[1] && nc_set(o, 0, 2, d);
}

bool nc_size_embed(nc_op *o)
{
    int64_t tokens = nc_tokens(o);
    nc_want(o, 0, 1, &tokens);
    int64_t d[] = {product(&o->in[0]), nc_int(o, 0, 0)};
    return nc_set(o, 0, 2, d);
}

/* in: x [rows, width], then the states; out: all rows, then the states. */
bool nc_size_rnn(nc_op *o)
{
    int64_t both = nc_int(o, 2, 0) == 2 ? 2 : 1, outputs = nc_int(o, 0, 0);
    int64_t gates = str_is(o->layer->type, "LSTM") ? 4 : str_is(o->layer->type, "GRU") ? 3 : 1;
    int64_t hidden = nc_int(o, 3, outputs), n;
    int64_t x[] = {nc_tokens(o), -1}, state[] = {both, outputs}, cell[] = {both, hidden};
    if (num_mul(both * gates, hidden, &n) && n > 0)
        x[1] = nc_int(o, 1, 0) / n;
    nc_want(o, 0, 2, x);
    nc_want(o, 1, 2, state);
    nc_want(o, 2, 2, cell);
    int64_t d[] = {o->in[0].d[0], outputs * both};
    o->clash |= o->in[0].rank == 2 && o->in[0].d[1] > 0 && x[1] > 0 && o->in[0].d[1] != x[1];
    return o->in[0].rank == 2 && nc_set(o, 0, 2, d) && nc_set(o, 1, 2, state) &&
           nc_set(o, 2, 2, cell);
}

/* The letters of an operand, the arrow and the result: "ij,jk->ik". */
bool nc_equation(const nc_op *o, char *text, int room)
{
    int64_t codes[NC_LIST];
    int n = nc_ints(o, 0, codes);
    for (int i = 0; i < n && i < room - 1; i++)
        text[i] = codes[i] > 32 && codes[i] < 127 ? (char)codes[i] : '?';
    if (n >= 0)
        text[n < room - 1 ? n : room - 1] = '\0';
    return n > 0 && n < room && strstr(text, "->");
}

bool nc_size_einsum(nc_op *o)
{
    char text[NC_LIST + 1];
    int64_t sizes[128], d[NC_RANK];
    int n = 0, axis = 0;
    uint32_t at = 0;
    const char *p = text;
    for (int i = 0; i < 128; i++)
        sizes[i] = -1;
    if (!nc_equation(o, text, sizeof text))
        return false;
    for (; *p && *p != '-'; p++) {
        if (*p == ',') {
            at++;
            axis = 0;
        } else if (at < o->layer->n_in && axis < o->in[at].rank) {
            sizes[(unsigned char)*p & 127] = o->in[at].d[axis++];
        }
    }
    for (p += 2; *p && n < NC_RANK; p++)
        d[n++] = sizes[(unsigned char)*p & 127];
    return n > 0 && nc_set(o, 0, n, d);
}

/* ---- joining and splitting ---- */

bool nc_size_concat(nc_op *o)
{
    nc_shape to = o->in[0];
    int64_t axis = nc_axis(&to, nc_int(o, 0, 0)) - 1, sum = 0;
    for (uint32_t i = 0; i < o->layer->n_in; i++) {
        const nc_shape *x = &o->in[i];
        if (x->rank != to.rank || axis < 0 || to.rank == 0)
            return false;
        for (int k = 0; k < to.rank; k++)
            o->clash |= k != axis && x->d[k] > 0 && to.d[k] > 0 && x->d[k] != to.d[k];
        sum = sum < 0 || x->d[axis] < 0 || !num_add(sum, x->d[axis], &sum) ? -1 : sum;
    }
    to.d[axis] = sum;
    return nc_set(o, 0, to.rank, to.d);
}

/* Parts of fixed sizes; -233 is an equal share of what is left. */
bool nc_size_slice(nc_op *o)
{
    int64_t list[NC_LIST], left;
    const nc_shape *x = &o->in[0];
    int64_t axis = nc_axis(x, nc_int(o, 1, 0)) - 1;
    int n = nc_ints(o, 0, list);
    if (axis < 0 || n != (int)o->layer->n_out)
        return false;
    left = x->d[axis];
    for (int i = 0; i < n; i++) {
        nc_shape to = *x;
        to.d[axis] = list[i] != NC_UNSET ? list[i] : left < 0 ? -1 : left / (n - i);
        o->clash |= left >= 0 && to.d[axis] > left;
        left = left < 0 || to.d[axis] < 0 ? -1 : left - to.d[axis];
        nc_set(o, (uint32_t)i, to.rank, to.d);
    }
    return true;
}

/* ---- views ---- */

static int64_t inner_size(const nc_shape *x, int from_inside)
{
    return from_inside < x->rank ? x->d[x->rank - 1 - from_inside] : 1;
}

static void fill_open(nc_op *o, const nc_shape *x, int64_t *d, int n)
{
    int64_t all = product(x), taken = 1;
    int open = -1;
    for (int k = 0; k < n; k++) {
        if (d[k] < 0)
            open = k;
        else if (!num_mul(taken, d[k], &taken))
            taken = 0;
    }
    if (all < 0 || taken <= 0)
        return;
    o->clash |= open < 0 ? taken != all : all % taken != 0;
    if (open >= 0 && all % taken == 0)
        d[open] = all / taken;
}

/* A size in words: a number, "1w" (the width of input 1), or "*(1w,2)" with + - * and /. */
static bool read_term(const nc_op *o, str *s, int64_t *v, int depth)
{
    uint64_t n = 0;
    if (s->n > 1 && depth < 8 && strchr("+-*/", s->p[0]) && s->p[1] == '(') {
        char op = s->p[0];
        int64_t a, b;
        *s = (str){s->p + 2, s->n - 2};
        if (!read_term(o, s, &a, depth + 1) || s->n == 0 || s->p[0] != ',')
            return false;
        *s = (str){s->p + 1, s->n - 1};
        if (!read_term(o, s, &b, depth + 1) || s->n == 0 || s->p[0] != ')')
            return false;
        *s = (str){s->p + 1, s->n - 1};
        *v = a < 0 || b < 0 ? -1
             : op == '+'    ? a + b
             : op == '-'    ? a - b
             : op == '*'    ? a * b
             : b            ? a / b
                            : -1;
        return *v >= -1 && *v < INT32_MAX;
    }
    bool minus = s->n && s->p[0] == '-';
    if (minus)
        *s = (str){s->p + 1, s->n - 1};
    if (!str_take_u64(s, &n) || n > INT32_MAX)
        return false;
    const char *axis = s->n ? memchr("whdc", s->p[0], 4) : NULL;
    *v = minus ? -(int64_t)n : (int64_t)n;
    if (!axis)
        return true;
    *s = (str){s->p + 1, s->n - 1};
    if (n >= o->layer->n_in || o->in[n].rank == 0)
        return false;
    *v = *axis == 'c' ? o->in[n].d[0] : inner_size(&o->in[n], (int)(strchr("whd", *axis) - "whd"));
    return true;
}

/* Sizes from the inside out, in quotes. */
static bool reshape_by_words(nc_op *o, str text)
{
    int64_t list[NC_RANK], d[NC_RANK];
    int n = 0;
    if (text.n > 2 && text.p[0] == '"' && text.p[text.n - 1] == '"')
        text = (str){text.p + 1, text.n - 2};
    do {
        if (n >= NC_RANK || !read_term(o, &text, &list[n++], 0))
            return false;
        if (text.n && text.p[0] != ',')
            return false;
        text = text.n ? (str){text.p + 1, text.n - 1} : text;
    } while (text.n);
    for (int k = 0; k < n; k++)
        d[k] = list[n - 1 - k];
    fill_open(o, &o->in[0], d, n);
    return nc_set(o, 0, n, d);
}

bool nc_size_reshape(nc_op *o)
{
    if (nc_text(o, 6).n)
        return reshape_by_words(o, nc_text(o, 6));
    static const int64_t keys[] = {0, 1, 11, 2};
    int64_t w[4], d[NC_RANK];
    int n = 0;
    for (int k = 0; k < 4; k++)
        w[k] = nc_int(o, keys[k], NC_UNSET);
    int rank = w[3] != NC_UNSET ? (w[2] != NC_UNSET ? 4 : 3) : w[1] != NC_UNSET ? 2 : 1;
    if (w[0] == NC_UNSET)
        return false;
    if (rank > 2)
        d[n++] = w[3] == 0 ? o->in[0].rank > 2 ? o->in[0].d[0] : 1 : w[3];
    if (rank > 3)
        d[n++] = w[2] == 0 ? inner_size(&o->in[0], 2) : w[2];
    if (rank > 1)
        d[n++] = w[1] == 0 ? inner_size(&o->in[0], 1) : w[1];
    d[n++] = w[0] == 0 ? inner_size(&o->in[0], 0) : w[0];
    fill_open(o, &o->in[0], d, n);
    return nc_set(o, 0, n, d);
}

bool nc_size_flatten(nc_op *o)
{
    int64_t n = product(&o->in[0]);
    return nc_set(o, 0, 1, &n);
}

/* Types list the axes from the inside out. */
int nc_permutation(const nc_op *o, int rank, int64_t *perm)
{
    static const char *const two[] = {"wh", "hw"};
    static const char *const three[] = {"whc", "hwc", "wch", "cwh", "hcw", "chw"};
    static const char *const four[] = {"whdc", "hwdc", "wdhc", "dwhc", "hdwc", "dhwc",
                                       "whcd", "hwcd", "wchd", "cwhd", "hcwd", "chwd",
                                       "wdch", "dwch", "wcdh", "cwdh", "dcwh", "cdwh",
                                       "hdcw", "dhcw", "hcdw", "chdw", "dchw", "cdhw"};
    int64_t type = nc_int(o, 0, 0);
    const char *const *rows = rank == 2 ? two : rank == 3 ? three : four;
    int64_t n = rank == 2 ? 2 : rank == 3 ? 6 : 24;
    const char *axes = rank == 2 ? "hw" : rank == 3 ? "chw" : "cdhw";
    if (rank < 2 || type < 0 || type >= n)
        return -1;
    for (int k = 0; k < rank; k++)
        perm[k] = strchr(axes, rows[type][rank - 1 - k]) - axes;
    return rank;
}

bool nc_size_permute(nc_op *o)
{
    int64_t perm[NC_RANK], d[NC_RANK];
    int n = nc_permutation(o, o->in[0].rank, perm);
    for (int k = 0; k < n; k++)
        d[k] = o->in[0].d[perm[k]];
    return n > 0 && nc_set(o, 0, n, d);
}

/* Axes of the list of key 3, or by the flags of w, h, d and c; as bits. */
static unsigned chosen_axes(const nc_op *o, int rank)
{
    int64_t list[NC_LIST];
    unsigned bits = 0;
    int n = nc_ints(o, 3, list);
    for (int i = 0; i < n; i++) {
        int64_t at = list[i] < 0 ? list[i] + rank : list[i];
        bits |= at >= 0 && at < rank ? 1u << at : 0;
    }
    if (n < 0 && rank > 0) {
        bits |= nc_int(o, 0, 0) ? 1u << (rank - 1) : 0;
        bits |= nc_int(o, 1, 0) && rank > 1 ? 1u << (rank - 2) : 0;
        bits |= nc_int(o, 2, 0) && rank > 2 ? 1u : 0;
    }
    return bits;
}

bool nc_size_squeeze(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    unsigned bits = chosen_axes(o, x->rank);
    int64_t d[NC_RANK];
    int n = 0;
    for (int k = 0; k < x->rank; k++)
        if (!(bits >> k & 1 && x->d[k] == 1))
            d[n++] = x->d[k];
    if (n == 0 && x->rank)
        d[n++] = 1;
    return n > 0 && nc_set(o, 0, n, d);
}

bool nc_size_expand(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t list[NC_LIST], d[NC_RANK];
    int n = nc_ints(o, 3, list), total = x->rank + (n > 0 ? n : 0), from = 0;
    if (n <= 0 || x->rank == 0 || total > NC_RANK)
        return false;
    for (int k = 0; k < total; k++) {
        bool added = false;
        for (int i = 0; i < n; i++)
            added |= (list[i] < 0 ? list[i] + total : list[i]) == k;
        d[k] = added || from >= x->rank ? 1 : x->d[from++];
    }
    return nc_set(o, 0, total, d);
}

/* ---- moving ---- */

static int64_t scaled(int64_t size, double scale)
{
    double v = (double)size * scale;
    return size < 0 || v > 1e9 || !(v > 0) ? -1 : (int64_t)v;
}

bool nc_size_interp(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    int64_t high = nc_int(o, 3, 0), wide = nc_int(o, 4, 0);
    int64_t d[] = {x->d[0], x->rank == 3 ? x->d[1] : 1, x->rank == 3 ? x->d[2] : 1};
    if (x->rank != 3 && x->rank != 1)
        return false;
    if (o->layer->n_in > 1 && nc_int(o, 5, 0)) {
        const nc_shape *to = &o->in[1];
        d[1] = to->rank == 3 ? to->d[1] : -1;
        d[2] = to->rank == 3 ? to->d[2] : -1;
    } else {
        d[1] = high > 0 ? high : scaled(d[1], nc_float(o, 1, 1));
        d[2] = wide > 0 ? wide : scaled(d[2], nc_float(o, 2, 1));
    }
    return nc_set(o, 0, 3, d);
}

/* Where each axis begins and how long it is, by keys or by lists. */
bool nc_crop_of(const nc_op *o, int64_t *start, int64_t *size)
{
    static const int64_t offset[] = {0, 1, 2}, length[] = {3, 4, 5}, behind[] = {6, 7, 8};
    const nc_shape *x = &o->in[0];
    int64_t starts[NC_LIST], ends[NC_LIST], axes[NC_LIST];
    int n = nc_ints(o, 9, starts), m = nc_ints(o, 10, ends), a = nc_ints(o, 11, axes);
    for (int k = 0; k < x->rank; k++) {
        start[k] = 0;
        size[k] = x->d[k];
    }
    for (int i = 0; i < n && n == m; i++) {
        int64_t at = a == n ? (axes[i] < 0 ? axes[i] + x->rank : axes[i]) : i;
        if (at < 0 || at >= x->rank || x->d[at] < 0)
            return false;
        int64_t s = starts[i] == NC_UNSET ? 0 : starts[i], e = ends[i];
        e = e == NC_UNSET || e > x->d[at] ? x->d[at] : e < 0 ? e + x->d[at] : e;
        start[at] = s < 0 ? s + x->d[at] : s;
        size[at] = e - start[at];
    }
    for (int k = 0; n < 0 && k < 3 && k < x->rank; k++) {
        int at = k == 2 ? 0 : x->rank - 1 - k;
        int64_t from = nc_int(o, offset[k], 0), want = nc_int(o, length[k], NC_UNSET);
        const nc_shape *like = o->layer->n_in > 1 ? &o->in[1] : NULL;
        if (k == 2 && x->rank < 3)
            break;
        from = from == NC_UNSET ? 0 : from;
        start[at] = from;
        if (like && like->rank == x->rank && k < 2)
            size[at] = like->d[at];
        else if (want > 0)
            size[at] = want;
        else if (x->d[at] >= 0)
            size[at] = x->d[at] - from - nc_int(o, behind[k], 0);
    }
    return x->rank > 0;
}

bool nc_size_crop(nc_op *o)
{
    int64_t start[NC_RANK], size[NC_RANK];
    if (!nc_crop_of(o, start, size))
        return false;
    for (int k = 0; k < o->in[0].rank; k++)
        o->clash |= o->in[0].d[k] >= 0 && (start[k] < 0 || start[k] + size[k] > o->in[0].d[k]);
    return nc_set(o, 0, o->in[0].rank, size);
}

bool nc_size_pad(nc_op *o)
{
    nc_shape to = o->in[0];
    if (to.rank == 0)
        return false;
    int64_t wide = nc_int(o, 2, 0) + nc_int(o, 3, 0), high = nc_int(o, 0, 0) + nc_int(o, 1, 0);
    int64_t deep = nc_int(o, 7, 0) + nc_int(o, 8, 0);
    if (to.d[to.rank - 1] >= 0)
        to.d[to.rank - 1] += wide;
    if (to.rank > 1 && to.d[to.rank - 2] >= 0)
        to.d[to.rank - 2] += high;
    if (to.rank > 2 && to.d[0] >= 0)
        to.d[0] += deep;
    return nc_set(o, 0, to.rank, to.d);
}

bool nc_size_shuffle(nc_op *o)
{
    int64_t r = nc_int(o, 0, 1);
    const nc_shape *x = &o->in[0];
    if (x->rank != 3 || r < 1 || r > 1 << 10)
        return false;
    bool down = str_is(o->layer->type, "Reorg");
    int64_t d[] = {x->d[0] < 0 ? -1
                   : down      ? x->d[0] * r * r
                               : x->d[0] / (r * r),
                   x->d[1] < 0 ? -1
                   : down      ? x->d[1] / r
                               : x->d[1] * r,
                   x->d[2] < 0 ? -1
                   : down      ? x->d[2] / r
                               : x->d[2] * r};
    return nc_set(o, 0, 3, d);
}

bool nc_size_reduction(nc_op *o)
{
    static const int64_t one = 1;
    const nc_shape *x = &o->in[0];
    int64_t d[NC_RANK];
    bool keep = nc_int(o, 4, 0) != 0, all = nc_int(o, 1, 1) != 0;
    unsigned bits = all ? ~0u : chosen_axes(o, x->rank);
    int n = 0;
    for (int k = 0; k < x->rank; k++)
        if (keep || !(bits >> k & 1))
            d[n++] = bits >> k & 1 ? 1 : x->d[k];
    return x->rank && (n ? nc_set(o, 0, n, d) : nc_set(o, 0, 1, &one));
}

unsigned nc_reduced_axes(const nc_op *o)
{
    return nc_int(o, 1, 1) ? ~0u : chosen_axes(o, o->in[0].rank);
}

bool nc_size_focus(nc_op *o)
{
    const nc_shape *x = &o->in[0];
    if (x->rank != 3)
        return false;
    int64_t d[] = {x->d[0] < 0 ? -1 : 4 * x->d[0], x->d[1] < 0 ? -1 : x->d[1] / 2,
                   x->d[2] < 0 ? -1 : x->d[2] / 2};
    o->clash |= x->d[1] % 2 == 1 || x->d[2] % 2 == 1;
    return nc_set(o, 0, 3, d);
}
