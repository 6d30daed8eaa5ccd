/* What the parts of the reader of TorchScript share. */
#ifndef FORMATS_SCRIPT_IMPL_H
#define FORMATS_SCRIPT_IMPL_H

#include "formats/aten/aten.h"
#include "formats/torch/torch_impl.h"

enum {
    SCRIPT_DEPTH = 200,         /* of expressions, blocks and calls */
    SCRIPT_MAX_CODE = 64 << 20, /* bytes of one file */
    SCRIPT_MAX_STEPS = 1 << 21, /* statements that are followed */
    SCRIPT_MAX_INPUTS = 16,
    SCRIPT_MAX_TRIALS = 160, /* of sizes of the inputs */
};

/* ---- code (script_parse.c) ---- */

typedef enum script_kind {
    EXPR_NAME,
    EXPR_INT,
    EXPR_FLOAT,
    EXPR_TEXT,
    EXPR_NONE,
    EXPR_BOOL,
    EXPR_LIST,
    EXPR_TUPLE,
    EXPR_DICT,
    EXPR_ATTR,  /* of.s */
    EXPR_CALL,  /* of(items), names of keyword arguments */
    EXPR_INDEX, /* of[items[0]] */
    EXPR_NEG,
    EXPR_CHOICE, /* items[0] if of else items[1] */
} script_kind;

typedef struct script_expr {
    script_kind kind;
    uint32_t line;
    str s;
    int64_t i;
    double f;
    struct script_expr *of;
    VEC(struct script_expr *) items;
    VEC(str) names; /* of items of a call; empty for those by position */
} script_expr;

typedef enum script_form {
    FORM_ASSIGN, /* targets = value */
    FORM_EXPR,
    FORM_RETURN,
    FORM_IF,
    FORM_WHILE,
    FORM_FOR, /* targets[0] in value */
    FORM_PASS
} script_form;

typedef struct script_stmt {
    script_form form;
    uint32_t line;
    bool tuple; /* several targets, or one with a comma */
    VEC(script_expr *) targets;
    script_expr *value;
    VEC(struct script_stmt *) body, other; /* of else */
} script_stmt;
typedef VEC(script_stmt *) script_block;

typedef struct script_param {
    str name;
    script_expr *type, *value; /* or NULL */
} script_param;

typedef struct script_function {
    str name;
    struct script_file *file;
    VEC(script_param) params;
    VEC(script_stmt *) body;
} script_function;

typedef struct script_constant {
    str name;
    script_expr *value;
} script_constant;

typedef struct script_class {
    str name, base;
    VEC(script_function *) methods;
    VEC(script_constant)
    constants;       /* name : Final[T] = value; __parameters__ and __buffers__ as well */
    VEC(str) fields; /* name : T, in order; the fields of a NamedTuple */
} script_class;

typedef struct script_file {
    str module; /* "__torch__.torch.nn.modules.conv" */
    VEC(script_function *) functions;
    VEC(script_class *) classes;
} script_file;

assay_status script_parse(str text, str module, arena *a, script_file *out, assay_error *err);

/* ---- the archive (script_read.c) ---- */

typedef struct script_need { /* what the first operator takes of an input */
    int rank;                /* 0: nothing is known */
    int axis;
    int64_t size; /* of that axis */
    bool tokens;
    bool any;    /* normalised first, with a rank that is not known */
    bool closed; /* axes of size 1 are put in: other sizes of them are no images */
} script_need;

typedef struct script_archive {
    source *src;
    arena *a; /* as long as the reading */
    zip_directory z;
    str root;
    weight_set *set;
    pickle_value *module, *constants;
    map files; /* parsed ones, by module */
    VEC(script_file *) parsed;
    script_need needs[SCRIPT_MAX_INPUTS];
    bool sequence; /* a part is attention over a sequence */
    assay_error *err;
} script_archive;

/* The file that has this class or function ("__torch__.a.b.C"); *out is NULL if there is none. */
assay_status script_file_of(script_archive *s, str qualified, script_file **out);

/* ---- running (script_run.c) ---- */

typedef struct script_run {
    script_archive *s;
    foreign f;
    aten t;
    struct bound_files *files;
    map constants; /* ids of weights that are in the graph, by name */
    VEC(ir_id) constant_ids;
    uint64_t steps;
    int depth;
    str path;    /* of the module whose code runs */
    str line_of; /* module of the code, for messages */
    uint32_t line;
    ir_id inputs[SCRIPT_MAX_INPUTS];
    uint32_t n_inputs;
    bool probing;                       /* shapes of inputs are not known yet */
    bool branched;                      /* a branch was chosen by a size that the graph computes */
    uint64_t closed[SCRIPT_MAX_INPUTS]; /* axes of inputs by whose sizes a branch was chosen */
    VEC(struct script_store) stores;
} script_run;

/* An attribute that the code has set. */
typedef struct script_store {
    const pickle_value *object;
    str name;
    aten_value value;
} script_store;

/* The result of the root's forward with these inputs. */
assay_status script_forward(script_run *r, const aten_value *args, uint32_t n, aten_value *out);
/* An object of the pickle; and any value of it, at its path (script_values.c). */
aten_value script_of_object(const pickle_value *v);
assay_status script_of_pickle(script_run *r, const pickle_value *v, str path, aten_value *out);
/* Tensors that were changed in place are what they became (script_operator.c). */
void script_renew(const script_run *r, aten_value *v);
assay_status script_stop(script_run *r, const char *fmt, ...) ASSAY_PRINTF(2, 3);
const script_class *script_class_of(const script_file *f, str qualified);
const script_function *script_method(const script_class *c, const char *name);
/* The graph's constant of a tensor of the archive; *id is IR_NONE if there is none. */
assay_status script_constant_of(script_run *r, str name, ir_id *id);

/* ---- operators on numbers, texts and lists (script_ops.c) ---- */

typedef struct script_args {
    uint32_t n;
    aten_value v[64];
    str names[64];
} script_args;
/* "torch.add", "ops.aten.add", "ops.prim.dtype", "ops.torchvision.nms" (script_operator.c). */
assay_status script_run_torch(script_run *r, str qualified, const script_args *a, aten_value *out);

/* *done: it was one of these. */
assay_status script_builtin(script_run *r, str op, const script_args *a, aten_value *out,
                            bool *done);
/* Whether two values are equal; false if it is not known. */
bool script_equal(const aten_value *a, const aten_value *b, bool *out);
/* A branch was chosen by this value. */
void script_branched(script_run *r, const aten_value *v);
/* Truth of a value; false if it depends on data. */
bool script_truth(script_run *r, const aten_value *v, bool *out);
/* A whole number of a tensor with one element. */
aten_value script_to_size(script_run *r, const aten_value *v);

/* ---- dictionaries, named tuples and types (script_dict.c) ---- */

/* kind ATEN_ABSENT if out of memory */
aten_value script_new_dict(script_run *r);
assay_status script_dict_set(script_run *r, const aten_value *dict, aten_value key, aten_value v);
/* An operator on the dictionary a->v[0]; *done: it was one. */
assay_status script_dict(script_run *r, str op, const script_args *a, aten_value *out, bool *done);
/* A field of a named tuple. */
assay_status script_field(script_run *r, const aten_value *tuple, str name, aten_value *out);
assay_status script_named_tuple(script_run *r, const script_class *c, const script_args *a,
                                aten_value *out);
bool script_is_instance(const aten_value *v, const script_expr *type);

#endif
