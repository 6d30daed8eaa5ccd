/* Finds the libraries of engines: ONNX Runtime and llama.cpp.
 *
 * The dynamic loader looks for the system's own copy by name first (ort_api.c). The working directory is not
 * searched, so that no code is loaded from it by accident.
 */
#include "engine/ort_find.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

#if defined(__aarch64__)
#define ARCH    "arm64"
#define TRIPLET "aarch64-linux-gnu"
#else
#define ARCH    "x64"
#define TRIPLET "x86_64-linux-gnu"
#endif

#define LIBRARY "/libonnxruntime.so*"
#define WHEEL   "/onnxruntime/capi" LIBRARY
#define NODE    "/node_modules/onnxruntime-node/bin/napi-v*/linux/" ARCH LIBRARY

typedef enum place_base {
    AT_ROOT,
    AT_VARIABLE, /* the directory that an environment variable names */
    AT_PROGRAM,  /* the directory of the program, or of the library that assay is in */
    AT_CALLER,   /* each of the caller's directories */
} place_base;

typedef struct place {
    place_base base;
    const char *variable;
    const char *pattern; /* after the base, for glob() */
} place;

static const place places[] = {
    {AT_ROOT, NULL, "/usr/lib/" TRIPLET LIBRARY},
    {AT_ROOT, NULL, "/usr/lib64" LIBRARY},
    {AT_ROOT, NULL, "/usr/lib" LIBRARY},
    {AT_ROOT, NULL, "/usr/local/lib" LIBRARY},
    {AT_ROOT, NULL, "/usr/local/lib64" LIBRARY},
    {AT_ROOT, NULL, "/opt/onnxruntime*/lib" LIBRARY},
    {AT_VARIABLE, "VIRTUAL_ENV", "/lib/python3*/site-packages" WHEEL},
    {AT_VARIABLE, "CONDA_PREFIX", "/lib" LIBRARY},
    {AT_VARIABLE, "CONDA_PREFIX", "/lib/python3*/site-packages" WHEEL},
    {AT_VARIABLE, "HOME", "/.local/lib/python3*/site-packages" WHEEL},
    {AT_ROOT, NULL, "/usr/local/lib/python3*/dist-packages" WHEEL},
    {AT_ROOT, NULL, "/usr/local/lib/python3*/site-packages" WHEEL},
    {AT_ROOT, NULL, "/usr/lib/python3*/dist-packages" WHEEL},
    {AT_ROOT, NULL, "/usr/lib/python3*/site-packages" WHEEL},
    /* build/release/assay, build/dev/tests/test_engine and prefix/bin/assay */
    {AT_PROGRAM, NULL, "/../engine" LIBRARY},
    {AT_PROGRAM, NULL, "/../../engine" LIBRARY},
    {AT_PROGRAM, NULL, "/../lib/assay" LIBRARY},
    {AT_CALLER, NULL, LIBRARY},
    {AT_CALLER, NULL, NODE},
};

/* llama.cpp: its library is beside those of ggml. */
#define LLAMA      "/libllama.so*"
#define LLAMA_NODE "/node_modules/@node-llama-cpp/linux-" ARCH "/bins/linux-" ARCH "/libllama.v*.so"
static const place llama_places[] = {
    {AT_PROGRAM, NULL, "/../engine/llama/libllama.v*.so"},
    {AT_PROGRAM, NULL, "/../../engine/llama/libllama.v*.so"},
    {AT_PROGRAM, NULL, "/../lib/assay/llama/libllama.v*.so"},
    {AT_ROOT, NULL, "/usr/lib/" TRIPLET LLAMA},
    {AT_ROOT, NULL, "/usr/local/lib" LLAMA},
    {AT_ROOT, NULL, "/usr/lib" LLAMA},
    {AT_ROOT, NULL, "/usr/lib/node_modules/.." LLAMA_NODE},
    {AT_ROOT, NULL, "/usr/local/lib/node_modules/.." LLAMA_NODE},
};

typedef struct search {
    arena *arena;
    VEC(const char *) found;
    const char *unsafe; /* the first that others could have changed */
} search;

static void add_path(search *s, const char *path)
{
    (void)VEC_ADD(s->arena, &s->found, path ? arena_strdup(s->arena, path) : NULL);
}

/* Folders are taken by their letters: what glob() would read as a pattern is escaped. */
static char *quoted(arena *a, const char *folder)
{
    char *out = arena_alloc_array(a, strlen(folder) + 1, 2), *w = out;
    for (; out && *folder; folder++) {
        if (strchr("*?[]\\", *folder))
            *w++ = '\\';
        *w++ = *folder;
    }
    return out;
}

/* Whether nobody else could have put it there: it is root's or the user's own, and others cannot write to it. The
 * user's own may be open to the user's group. */
static bool is_safe(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    bool own = st.st_uid == geteuid();
    return (own || st.st_uid == 0) && !(st.st_mode & S_IWOTH) && (own || !(st.st_mode & S_IWGRP));
}

/* The library and the folder that it is in. */
static bool is_safe_library(search *s, const char *path)
{
    char *folder = arena_strdup(s->arena, path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!slash)
        return false;
    slash[slash == folder] = '\0';
    if (is_safe(folder) && is_safe(path))
        return true;
    s->unsafe = s->unsafe ? s->unsafe : arena_strdup(s->arena, path);
    return false;
}

static void look_in_folder(search *s, const char *folder, const char *pattern)
{
    glob_t g = {0};
    const char *base = quoted(s->arena, folder);
    const char *full = base ? arena_printf(s->arena, "%s%s", base, pattern) : NULL;
    if (full && glob(full, 0, NULL, &g) == 0) /* sorted: the plain name comes first */
        for (size_t i = 0; i < g.gl_pathc; i++)
            if (is_safe_library(s, g.gl_pathv[i]))
                add_path(s, g.gl_pathv[i]);
    globfree(&g);
}

static void look_beside(search *s, char *file, const char *pattern)
{
    char *slash = strrchr(file, '/');
    if (!slash)
        return;
    *slash = '\0';
    look_in_folder(s, file, pattern);
}

static void look_by_program(search *s, const char *pattern)
{
    char self[PATH_MAX];
    Dl_info us;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        look_beside(s, self, pattern);
    }
    if (dladdr(places, &us) && us.dli_fname && realpath(us.dli_fname, self))
        look_beside(s, self, pattern);
}

static void look_at(search *s, const place *p, const char *const *folders)
{
    const char *value;
    switch (p->base) {
    case AT_ROOT:
        look_in_folder(s, "", p->pattern);
        break;
    case AT_VARIABLE:
        value = secure_getenv(p->variable);
        if (value && value[0] == '/')
            look_in_folder(s, value, p->pattern);
        break;
    case AT_PROGRAM:
        look_by_program(s, p->pattern);
        break;
    case AT_CALLER:
        for (; folders && *folders; folders++)
            look_in_folder(s, *folders, p->pattern);
        break;
    }
}

const char *const *ort_find(const char *const *folders, arena *a, const char **unsafe)
{
    search s = {.arena = a};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        look_at(&s, &places[i], folders);
    add_path(&s, NULL);
    *unsafe = s.unsafe;
    return arena_failed(a) ? NULL : s.found.items;
}

const char *const *llama_find(arena *a, const char **unsafe)
{
    search s = {.arena = a};
    for (size_t i = 0; i < sizeof llama_places / sizeof *llama_places; i++)
        look_at(&s, &llama_places[i], NULL);
    add_path(&s, NULL);
    *unsafe = s.unsafe;
    return arena_failed(a) ? NULL : s.found.items;
}
