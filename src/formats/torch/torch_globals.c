/* Globals that the pickles of a file name: those that a checkpoint does not need are noted; nothing is imported. */
#include <string.h>

#include "formats/torch/torch_impl.h"

static const char *const known_modules[] = {"torch.",   "__torch__.",   "collections.",
                                            "numpy.",   "__builtin__.", "builtins.",
                                            "_codecs.", "copyreg.",     "copy_reg."};
static const char *const harmless[] = {"set",   "frozenset", "list",  "dict",     "tuple", "int",
                                       "float", "complex",   "slice", "range",    "str",   "bytes",
                                       "bool",  "object",    "type",  "bytearray"};

static bool is_known(str name)
{
    for (size_t i = 0; i < sizeof known_modules / sizeof *known_modules; i++) {
        if (!str_starts(name, known_modules[i]))
            continue;
        if (!str_contains((str){known_modules[i], (uint32_t)strlen(known_modules[i])}, "builtin"))
            return true;
        size_t skip = strlen(known_modules[i]);
        for (size_t k = 0; k < sizeof harmless / sizeof *harmless; k++)
            if (str_is((str){name.p + skip, name.n - (uint32_t)skip}, harmless[k]))
                return true;
    }
    return false;
}

typedef struct global_list {
    torch_file *f;
    map names;
} global_list;

static assay_status note_global(global_list *l, str name)
{
    bool is_new = false;
    l->f->has_tensors |= str_starts(name, "torch.");
    if (is_known(name))
        return ASSAY_OK;
    l->f->has_strangers = true;
    TRY_MEMORY(map_at(&l->names, name, 0, &is_new), l->f->err);
    if (is_new)
        notes_add(&l->f->set->notes, "pickle-global", name,
                  "It was not imported. Open the file with torch.load only if you trust it.",
                  "The file names '" STR_FMT "', which is not part of PyTorch.", STR_ARG(name));
    return ASSAY_OK;
}

/* Every value once, without recursion: a list of what is still to be looked at. */
assay_status torch_note_globals(torch_file *f, pickle_value *object)
{
    VEC(pickle_value *) todo = {0};
    global_list l = {.f = f};
    VEC(pickle_value *) done = {0};
    TRY_MEMORY(map_init(&l.names, f->scratch, 16) && VEC_ADD(f->scratch, &todo, object), f->err);
    while (todo.n) {
        pickle_value *v = todo.items[--todo.n];
        pickle_value *const parts[] = {v ? v->of : NULL, v ? v->args : NULL, v ? v->state : NULL};
        if (!v || v->seen)
            continue;
        v->seen = true;
        bool good = VEC_ADD(f->scratch, &done, v);
        if (v->kind == PICKLE_GLOBAL)
            TRY(note_global(&l, v->text));
        for (uint32_t i = 0; good && i < v->items.n; i++)
            good = VEC_ADD(f->scratch, &todo, v->items.items[i]);
        for (int i = 0; good && i < 3; i++)
            good = VEC_ADD(f->scratch, &todo, parts[i]);
        TRY_MEMORY(good, f->err);
    }
    for (uint32_t i = 0; i < done.n; i++)
        done.items[i]->seen = false;
    return ASSAY_OK;
}
