/* The module tree: layers summed under the dotted path of the module they belong to.
 *
 * Paths come from the builder when it knows them, else from the node's name in one of two styles:
 *   /layer1/layer1.0/conv1/Conv   (PyTorch's exporter; the last part is the operator, and a part that
 *                                  repeats the one before it replaces it) -> layer1.0.conv1
 *   layer1.0.conv1                (the name is the module)
 */
#include "analyze/count.h"
#include "base/map.h"

#define MODULE_DEPTH_MAX 32
#define MODULE_PATH_MAX  512

static bool has(str s, char c)
{
    return s.n && memchr(s.p, c, s.n) != NULL;
}

/* Where the next '/'-part ends. */
static uint32_t part_end(str s, uint32_t from)
{
    const char *slash = from < s.n ? memchr(s.p + from, '/', s.n - from) : NULL;
    return slash ? (uint32_t)(slash - s.p) : s.n;
}

static bool repeats(str part, str before)
{
    return before.n && part.n > before.n && memcmp(part.p, before.p, before.n) == 0 &&
           part.p[before.n] == '.';
}

static str from_slashes(str name, arena *a)
{
    char *path = arena_alloc(a, (size_t)name.n + 1);
    str before = {0};
    uint32_t n = 0, before_at = 0;
    for (uint32_t from = 0, end; path && n < MODULE_PATH_MAX; from = end + 1) {
        end = part_end(name, from);
        str part = {name.p + from, end - from};
        if (end == name.n)
            break; /* the operator itself */
        if (part.n == 0)
            continue;
        if (repeats(part, before))
            n = before_at;
        else if (n)
            path[n++] = '.';
        before_at = n;
        memcpy(path + n, part.p, part.n);
        n += part.n;
        before = part;
    }
    return path ? (str){path, n} : (str){0};
}

/* What is before the last '/'. */
static str scope_of(str name)
{
    while (name.n && name.p[name.n - 1] != '/')
        name.n--;
    return (str){name.p, name.n ? name.n - 1 : 0};
}

str count_module_of(const ir_node *n, arena *a, module_memo *last)
{
    if (n->module.n)
        return str_copy(a, n->module);
    if (!has(n->name, '/'))
        return str_copy(a, has(n->name, '.') ? n->name : (str){0});
    str scope = scope_of(n->name);
    if (!last->module.p || !str_eq(scope, last->scope))
        *last = (module_memo){scope, from_slashes(n->name, a)};
    return last->module;
}

/* ---- the tree ---- */

typedef struct module_links {
    uint32_t first_child, next_sibling, last_child; /* places in the list, or UINT32_MAX */
} module_links;

typedef struct tree {
    str last; /* path of the layer before, and its modules from the outermost */
    uint32_t chain[MODULE_DEPTH_MAX], n_chain;
    VEC(profile_module) list; /* in order of first appearance; parents before children */
    VEC(module_links) links;
    map by_path;
    arena *arena, *scratch;
} tree;

static void add_layer(profile_module *m, const profile_layer *l)
{
    m->layers += 1;
    m->parameters = sat_add(m->parameters, l->parameters);
    m->flops = sat_add(m->flops, l->flops);
    m->macs = sat_add(m->macs, l->macs);
    m->memory = sat_add(m->memory, l->memory);
}

static uint32_t new_module(tree *t, str path, str name, int depth, uint32_t parent)
{
    uint32_t id = t->list.n;
    profile_module *m = VEC_PUSH(t->arena, &t->list);
    const module_links none = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (!m || !VEC_ADD(t->scratch, &t->links, none))
        return UINT32_MAX;
    *m = (profile_module){.path = path, .name = name, .depth = depth, .parent = parent};
    if (parent != UINT32_MAX) {
        module_links *up = &t->links.items[parent];
        uint32_t *link = up->last_child == UINT32_MAX
                             ? &up->first_child
                             : &t->links.items[up->last_child].next_sibling;
        *link = id;
        up->last_child = id;
    }
    return id;
}

static uint32_t child(tree *t, uint32_t parent, str path, str name, int depth)
{
    uint32_t id = map_get(&t->by_path, path);
    if (id != MAP_NONE)
        return id;
    id = new_module(t, path, name, depth, parent);
    return id != UINT32_MAX && map_put(&t->by_path, path, id) ? id : UINT32_MAX;
}

static bool find_modules(tree *t, str module)
{
    uint32_t at = 0, from = 0;
    t->last = module;
    t->n_chain = 0;
    while (from < module.n && t->n_chain < MODULE_DEPTH_MAX) {
        uint32_t end = from;
        while (end < module.n && module.p[end] != '.')
            end++;
        str path = {module.p, end}, name = {module.p + from, end - from};
        at = child(t, at, path, name, (int)t->n_chain + 1);
        if (at == UINT32_MAX)
            return false;
        t->chain[t->n_chain++] = at;
        from = end + 1;
    }
    return true;
}

/* Layers of one module mostly follow each other. */
static bool add_to_tree(tree *t, const profile_layer *l)
{
    if (!str_eq(t->last, l->module) && !find_modules(t, l->module))
        return false;
    add_layer(&t->list.items[0], l);
    for (uint32_t k = 0; k < t->n_chain; k++)
        add_layer(&t->list.items[t->chain[k]], l);
    return true;
}

/* Depth first, children in order of first appearance. */
static void flatten(const tree *t, profile_module *out)
{
    uint32_t n = 0;
    for (uint32_t at = 0; at != UINT32_MAX;) {
        out[n++] = t->list.items[at];
        if (t->links.items[at].first_child != UINT32_MAX) {
            at = t->links.items[at].first_child;
            continue;
        }
        while (at != UINT32_MAX && t->links.items[at].next_sibling == UINT32_MAX)
            at = t->list.items[at].parent;
        if (at != UINT32_MAX)
            at = t->links.items[at].next_sibling;
    }
}

static bool build_tree(profile *p, tree *t)
{
    const uint32_t usual = p->n_layers / 2 + 128; /* modules hold a few layers each */
    if (!map_init(&t->by_path, t->scratch, usual) || !VEC_RESERVE(t->arena, &t->list, usual) ||
        !VEC_RESERVE(t->scratch, &t->links, usual) ||
        new_module(t, (str){0}, p->model, 0, UINT32_MAX) == UINT32_MAX)
        return false;
    for (uint32_t k = 0; k < p->n_layers; k++)
        if (!add_to_tree(t, &p->layers[k]))
            return false;
    profile_module *out = ARENA_ARRAY(p->arena, profile_module, t->list.n);
    if (!out)
        return false;
    flatten(t, out);
    p->modules = out;
    p->n_modules = t->list.n;
    return true;
}

assay_status count_modules(profile *p, assay_error *err)
{
    tree t = {.arena = p->arena, .scratch = p->arena};
    return build_tree(p, &t) ? ASSAY_OK : err_no_memory(err);
}
