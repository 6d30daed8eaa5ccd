/* Options of the model: which one it is, its sizes, its number type. */
#include "base/sbuf.h"
#include "device/devices.h"
#include "ops/user_ops.h"
#include "options/rows.h"
#include "rewrite/precision.h"

#define DIM_MAX ((int64_t)1 << 40)

static int64_t last_of(str s, char c)
{
    for (int64_t i = (int64_t)s.n - 1; i >= 0; i--)
        if (s.p[i] == c)
            return i;
    return -1;
}

/* "1,3,224,224" or "1x3x224x224" into dims; the count, or -1. Nothing at all is a scalar. */
static int parse_shape_list(str s, int64_t dims[IR_MAX_RANK])
{
    int rank = 0;
    if (s.n == 0)
        return 0;
    for (str part; str_split(&s, ',', &part);)
        for (str item; str_split(&part, 'x', &item); rank++)
            if (rank == IR_MAX_RANK || !option_whole_number(item, DIM_MAX, &dims[rank]))
                return -1;
    return rank;
}

static OPTION_SETTER(set_shape)
{
    int64_t dims[IR_MAX_RANK], colon = last_of(value, ':');
    str name = {value.p, colon > 0 ? (uint32_t)colon : 0};
    str list = {value.p + (colon + 1), value.n - (uint32_t)(colon + 1)};
    int rank = parse_shape_list(list, dims);
    if (rank < 0 || colon == 0 || (rank == 0 && colon < 0))
        return option_refuse(row, value, err, "[NAME:]1,3,224,224 with at most %d whole numbers",
                             IR_MAX_RANK);
    infer_shape *s = VEC_PUSH(o->arena, &o->model.shapes);
    TRY_MEMORY(s, err);
    *s = (infer_shape){.input = name.n ? str_copy(o->arena, name) : (str){0}, .rank = rank};
    s->dims = arena_copy(o->arena, dims, sizeof *dims * (size_t)(rank ? rank : 1));
    return arena_failed(o->arena) ? err_no_memory(err) : ASSAY_OK;
}

static OPTION_SETTER(set_dim)
{
    int64_t v = 0, equals = last_of(value, '=');
    str size = {value.p + equals + 1, value.n - (uint32_t)(equals + 1)};
    if (equals > 0 && (memchr(size.p, '.', size.n) || memchr(size.p, ',', size.n)))
        return scaling_add_range(&o->scaling, o->arena, (str){value.p, (uint32_t)equals}, size,
                                 err);
    if (equals <= 0 || !option_whole_number(size, DIM_MAX, &v))
        return option_refuse(row, value, err, "NAME=N with a whole number, for example batch=8");
    infer_dim *d = VEC_PUSH(o->arena, &o->model.dims);
    TRY_MEMORY(d, err);
    *d = (infer_dim){.symbol = str_copy(o->arena, (str){value.p, (uint32_t)equals}), .value = v};
    return d->symbol.p ? ASSAY_OK : err_no_memory(err);
}

static OPTION_SETTER(set_parameter)
{
    json_value v;
    const char *equals = memchr(value.p, '=', value.n);
    if (!equals || equals == value.p)
        return option_refuse(row, value, err, "KEY=VALUE, for example num_classes=10");
    uint32_t n = (uint32_t)(equals - value.p);
    o->model.set.arena = o->arena;
    TRY(zoo_value_parse(o->arena, (str){equals + 1, value.n - n - 1}, &v, err));
    return zoo_args_put(&o->model.set, (str){value.p, n}, v, false)
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "too many parameters: --set");
}

static OPTION_SETTER(set_ops)
{
    (void)row;
    const char *path = str_copy(o->arena, value).p;
    return path ? user_ops_read(path, o->arena, &o->model.ops, err) : err_no_memory(err);
}

/* "fp32,int8-dynamic": of compare, which runs each model at its own. */
static bool is_list_of_targets(str value)
{
    for (str item; str_split(&value, ',', &item);)
        if (!precision_find(item))
            return false;
    return true;
}

static OPTION_SETTER(set_precision)
{
    const precision_row *target = precision_find(value);
    ir_dtype t = target ? target->dtype : ir_dtype_by_name(value);
    model_options *m = &o->model;
    m->precisions = str_copy(o->arena, value);
    m->precision_list = t == IR_UNDEFINED && value.n &&
                        (device_is_precision_list(value) || is_list_of_targets(value));
    if (!m->precision_list && (t == IR_UNDEFINED || !(ir_is_float(t) || ir_is_integer(t))))
        return option_refuse(row, value, err,
                             "a number type such as fp32, fp16, bf16, int8, int8-dynamic or int4");
    m->precision = m->precision_list ? IR_UNDEFINED : t;
    m->target = m->precision_list ? NULL : target;
    return ASSAY_OK;
}

static const option_row rows[] = {
    {OPTION_READ("input-shape", set_shape, "@model"), .repeatable = true,
     .value = "[NAME:]1,3,224,224",
     .about = "Set the shape of an input. Without NAME: the next input without a shape."},
    {OPTION_READ("dim", set_dim,
                 "graph profile bench layers memory compare check validate map fuse scale"),
     .repeatable = true, .value = "NAME=N",
     .about = "Set a symbolic dimension of the model. scale: also ranges, NAME=A..B."},
    {OPTION("batch", INT, model.batch, "@model pipeline"), .value = "N", .min = 1, .max = 1 << 30,
     .about = "Set the batch size of every input."},
    {OPTION_READ("set", set_parameter, "@model pipeline capacity"), .repeatable = true,
     .value = "KEY=VALUE",
     .about = "Set a parameter of a built-in architecture, for example num_classes=10."},
    {OPTION_READ("ops", set_ops,
                 "graph profile bench layers memory compare check validate map fuse scale"),
     .value = "FILE", .values = "@files",
     .about = "Read rules for operators (JSON): their output shapes and costs. A rule comes "
              "before a built-in one."},
    {OPTION("config", WORD, model.config,
            "graph profile bench layers memory check map fuse scale export"),
     .value = "FILE", .values = "@files",
     .about = "Read the model, or parameters of a built-in model, from a training configuration "
              "(JSON)."},
    {OPTION_READ("precision", set_precision,
                 "graph profile compare map fuse scale export pipeline capacity"),
     .value = "TYPE", .values = "fp32|fp16|bf16|int8|int8-dynamic|int4",
     .about = "Count floating-point tensors at this type. A model that is run or exported is "
              "converted to it."},
    {OPTION("weight-bits", INT, model.weight_bits, "profile bench check export"), .values = "7|8",
     .needs = "precision|configs", .min = 7, .max = 8,
     .about =
         "Use 7 or 8 bits of int8 weights; CPUs without VNNI need 7. Default: 8 in files, else "
         "by this CPU."},
    {OPTION("seed", INT, model.seed, "@run export load sweep"), .value = "N", .needs = "measure",
     .min = 0, .max = INT64_MAX,
     .about = "Set the seed of random weights, inputs and arrivals. Default: 0."},
    {OPTION("follow-symlinks", FLAG, model.follow_symlinks,
            "graph profile bench layers memory compare check validate map fuse scale export"),
     .about = "Read external data through symbolic links that leave the model's directory."},
    {OPTION("strict", FLAG, model.strict,
            "graph profile bench layers memory check map fuse scale pipeline"),
     .about = "Exit 4 if anything was assumed or is unknown."},
};
OPTION_TOPIC(options_model, "Model", rows);
