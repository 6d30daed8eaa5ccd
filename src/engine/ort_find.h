/* Locations of ONNX Runtime: one row each, in the order of the search. */
#ifndef ENGINE_ORT_FIND_H
#define ENGINE_ORT_FIND_H

#include "base/arena.h"

/* Paths of files that are there, best first, ending with NULL; `folders` (NULL-terminated, may be
 * NULL) are the caller's own places and come last. NULL when memory is out. A library that others than root and
 * the user could have changed (by its owner and mode, or its folder's) is left out; *unsafe is the first, or NULL. */
const char *const *ort_find(const char *const *folders, arena *a, const char **unsafe);

/* What to tell somebody who has none. */
#define ORT_INSTALL_ADVICE                                                                        \
    "Install it with 'tools/setup engine' in assay's sources or with 'pip install onnxruntime', " \
    "or name the library with --engine-lib or ASSAY_ORT_LIB"

/* The same of llama.cpp's libllama. */
const char *const *llama_find(arena *a, const char **unsafe);

#endif
