/* See load_trace.h. */
#include "measure/load_trace.h"

#include <math.h>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_tree.h"

#define FILE_MOST ((uint64_t)1 << 30)

typedef VEC(load_item) item_list;

typedef struct trace_line {
    const char *shown;
    uint64_t number;
    double at_s; /* NaN: it does not say */
    load_item item;
} trace_line;

static assay_status refuse_line(const trace_line *l, const char *why, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_MALFORMED, "%s: line %llu: %s", l->shown,
                    (unsigned long long)l->number, why);
}

/* ---- JSON ---- */

static uint32_t length_of(const json_value *v, const char *a, const char *b)
{
    const json_value *x = json_get(v, a);
    x = x ? x : json_get(v, b);
    return x && x->kind == JSON_INT && x->i > 0 && x->i <= LOAD_LENGTH_MOST ? (uint32_t)x->i : 0;
}

/* A member's value as it stands in the line: the body is sent byte for byte. */
static str raw_member(str line, const char *key, arena *work)
{
    assay_error ignored = {0};
    json_scan s = scan_text(line, 0, "", work, &ignored);
    str name, raw = {0};
    scan_open(&s, '{');
    while (scan_key(&s, &name)) {
        scan_is(&s, '{'); /* moves to the value */
        const char *from = s.at;
        scan_skip(&s);
        if (str_is(name, key) && !s.failed)
            raw = (str){from, (uint32_t)(s.at - from)};
    }
    return str_trim(raw);
}

static assay_status read_json_line(str text, trace_line *l, arena *a, assay_error *err)
{
    json_value v;
    arena *work = arena_new((size_t)16 << 20);
    bool good = work && json_tree_parse(text, l->shown, &(json_tree_options){.lenient = true}, work,
                                        &v, NULL) == ASSAY_OK;
    if (good) {
        const json_value *time = json_get(&v, "time"), *stamp = json_get(&v, "timestamp");
        const json_value *body = json_get(&v, "body");
        l->at_s = time && json_is_number(time)     ? time->f
                  : stamp && json_is_number(stamp) ? stamp->f / 1000
                                                   : NAN;
        l->item.n_prompt = length_of(&v, "input_length", "prompt_tokens");
        l->item.n_output = length_of(&v, "output_length", "output_tokens");
        if (body)
            l->item.body = str_copy(a, body->kind == JSON_TEXT ? body->s
                                                               : raw_member(text, "body", work));
    }
    arena_free(work);
    return good ? ASSAY_OK : refuse_line(l, "no JSON object", err);
}

/* ---- CSV ---- */

/* "18:01:50.999" of any day: seconds since midnight, with the days before it. */
static bool parse_stamp(str text, double *out)
{
    uint64_t y, m, d, h, min;
    double s;
    bool date = str_take_u64(&text, &y) && text.n && text.p[0] == '-';
    text = date ? (str){text.p + 1, text.n - 1} : text;
    if (!date || !str_take_u64(&text, &m) || !text.n || m < 1 || m > 12 || y > 9999)
        return false;
    text = (str){text.p + 1, text.n - 1};
    if (!str_take_u64(&text, &d) || !text.n || d > 31)
        return false;
    text = (str){text.p + 1, text.n - 1};
    if (!str_take_u64(&text, &h) || !text.n)
        return false;
    text = (str){text.p + 1, text.n - 1};
    if (!str_take_u64(&text, &min) || !text.n)
        return false;
    text = (str){text.p + 1, text.n - 1};
    if (!str_take_f64(&text, &s) || h > 24 || min > 60)
        return false;
    /* Days since the civil epoch (Hinnant). */
    int64_t yy = (int64_t)y - (m <= 2), era = yy / 400, yoe = yy - era * 400;
    int64_t doy = (153 * ((int64_t)m + (m > 2 ? -3 : 9)) + 2) / 5 + (int64_t)d - 1;
    int64_t day = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy;
    *out = (double)day * 86400 + (double)(h * 3600 + min * 60) + s;
    return true;
}

static assay_status read_csv_line(str text, trace_line *l, assay_error *err)
{
    str rest = text, time = str_trim(str_cut(&rest, ',')), in = str_trim(str_cut(&rest, ','));
    str out = str_trim(str_cut(&rest, ','));
    uint64_t n;
    if (!str_to_f64(time, &l->at_s) && !parse_stamp(time, &l->at_s)) {
        l->at_s = NAN;
        return l->number == 1 ? ASSAY_OK : refuse_line(l, "it does not begin with a time", err);
    }
    l->item.n_prompt = str_to_u64(in, &n) && n <= LOAD_LENGTH_MOST ? (uint32_t)n : 0;
    l->item.n_output = str_to_u64(out, &n) && n <= LOAD_LENGTH_MOST ? (uint32_t)n : 0;
    return ASSAY_OK;
}

/* ---- files ---- */

static assay_status add_trace_line(trace_line *l, double *first_s, double speed, arena *a,
                                   item_list *list, assay_error *err)
{
    *first_s = isnan(*first_s) ? l->at_s : *first_s;
    double at = (l->at_s - *first_s) / speed;
    if (!(at >= 0) || at > 1e7)
        return refuse_line(l, "its time is before that of the first, or too late", err);
    l->item.at_ns = (uint64_t)(at * 1e9);
    if (list->n && l->item.at_ns < list->items[list->n - 1].at_ns)
        return refuse_line(l, "its time is before that of the line above", err);
    if (list->n == LOAD_ITEMS_MOST)
        return refuse_line(l, "there are more than 1,000,000 requests", err);
    return VEC_ADD(a, list, l->item) ? ASSAY_OK : err_no_memory(err);
}

assay_status load_trace_parse(str text, const char *shown, double speed, arena *a,
                              const load_item **items, uint32_t *n, assay_error *err)
{
    item_list list = {0};
    double first_s = NAN;
    uint64_t number = 0;
    for (str line; str_split(&text, '\n', &line);) {
        trace_line l = {.shown = shown, .number = ++number, .at_s = NAN};
        str inside = str_trim(line);
        if (!inside.n)
            continue;
        bool json = inside.p[0] == '{';
        TRY(json ? read_json_line(inside, &l, a, err) : read_csv_line(inside, &l, err));
        if (isnan(l.at_s) && json)
            return refuse_line(&l, "it has neither 'time' nor 'timestamp'", err);
        if (!isnan(l.at_s))
            TRY(add_trace_line(&l, &first_s, speed, a, &list, err));
    }
    if (!list.n)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: no requests", shown);
    *items = list.items;
    *n = list.n;
    return ASSAY_OK;
}

assay_status load_trace_read(const char *path, double speed, arena *a, const load_item **items,
                             uint32_t *n, assay_error *err)
{
    str text;
    TRY(file_read_all(path, FILE_MOST, a, &text, err));
    return load_trace_parse(text, FILE_NAME(path), speed, a, items, n, err);
}

assay_status load_requests_read(const char *path, arena *a, const load_item **items, uint32_t *n,
                                assay_error *err)
{
    str text;
    item_list list = {0};
    uint64_t number = 0;
    TRY(file_read_all(path, FILE_MOST, a, &text, err));
    for (str line; str_split(&text, '\n', &line);) {
        trace_line l = {.shown = FILE_NAME(path), .number = ++number};
        str body = str_trim(line);
        if (!body.n)
            continue;
        if (list.n == LOAD_ITEMS_MOST)
            return refuse_line(&l, "there are more than 1,000,000 requests", err);
        TRY_MEMORY(VEC_ADD(a, &list, (load_item){.body = body}), err);
    }
    if (!list.n)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: no requests", FILE_NAME(path));
    *items = list.items;
    *n = list.n;
    return ASSAY_OK;
}
