/* The C API of ONNX Runtime by slot. The library hands out one struct of function pointers that only ever
 * grows at its end, so a function is known by its position and by the API version that first had it
 * (1.N has version N). What the loaded library is too old for is NULL here.
 *
 * The rows were found by running 1.30; each says slot, first version, result, name, parameters. A status
 * that is NULL is success. Released with: status 93, memory info 94, session 95, value 96, run options 97,
 * type info 98, tensor info 99, session options 100, allocator 132; strings of the runtime are freed by
 * allocator_free on the default allocator.
 */
#ifndef ENGINE_ORT_API_H
#define ENGINE_ORT_API_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct ort_status ort_status;
typedef struct ort_env ort_env;
typedef struct ort_options ort_options;
typedef struct ort_session ort_session;
typedef struct ort_run_options ort_run_options;
typedef struct ort_value ort_value;
typedef struct ort_memory_info ort_memory_info;
typedef struct ort_allocator ort_allocator;
typedef struct ort_type_info ort_type_info;
typedef struct ort_tensor_info ort_tensor_info;
typedef struct ort_pairs ort_pairs;
typedef struct ort_ep_options ort_ep_options; /* of CUDA or TensorRT */
typedef const char *const *ort_strings;

typedef void ort_log_fn(void *param, int severity, const char *category, const char *id,
                        const char *where, const char *message);

#define ORT_API_OLDEST 17 /* the first version with a logging function per session */
#define ORT_API_NEWEST 30

/* clang-format off */
#define ORT_FUNCTIONS(X) \
    X(1,   1,  int,          error_code,            (const ort_status *)) \
    X(2,   1,  const char *, error_message,         (const ort_status *)) \
    X(4,   1,  ort_status *, create_env,            (ort_log_fn *, void *param, int level, const char *id, ort_env **)) \
    X(6,   1,  ort_status *, disable_telemetry,     (const ort_env *)) \
    X(7,   1,  ort_status *, create_session,        (const ort_env *, const char *path, const ort_options *, ort_session **)) \
    X(8,   1,  ort_status *, create_session_bytes,  (const ort_env *, const void *, size_t, const ort_options *, ort_session **)) \
    X(9,   1,  ort_status *, run,                   (ort_session *, const ort_run_options *, ort_strings in_names, const ort_value *const *in, size_t n_in, \
                                                     ort_strings out_names, size_t n_out, ort_value **out)) \
    X(10,  1,  ort_status *, create_options,        (ort_options **)) \
    X(11,  1,  ort_status *, set_optimised_path,    (ort_options *, const char *)) \
    X(13,  1,  ort_status *, set_execution_mode,    (ort_options *, int parallel)) \
    X(14,  1,  ort_status *, enable_profiling,      (ort_options *, const char *prefix)) \
    X(17,  1,  ort_status *, disable_mem_pattern,   (ort_options *)) \
    X(19,  1,  ort_status *, disable_arena,         (ort_options *)) \
    X(22,  1,  ort_status *, set_log_level,         (ort_options *, int)) \
    X(23,  1,  ort_status *, set_opt_level,         (ort_options *, int)) \
    X(24,  1,  ort_status *, set_threads,           (ort_options *, int)) \
    X(25,  1,  ort_status *, set_inter_threads,     (ort_options *, int)) \
    X(30,  1,  ort_status *, input_count,           (const ort_session *, size_t *)) \
    X(31,  1,  ort_status *, output_count,          (const ort_session *, size_t *)) \
    X(33,  1,  ort_status *, input_type,            (const ort_session *, size_t, ort_type_info **)) \
    X(34,  1,  ort_status *, output_type,           (const ort_session *, size_t, ort_type_info **)) \
    X(36,  1,  ort_status *, input_name,            (const ort_session *, size_t, ort_allocator *, char **)) \
    X(37,  1,  ort_status *, output_name,           (const ort_session *, size_t, ort_allocator *, char **)) \
    X(39,  1,  ort_status *, create_run_options,    (ort_run_options **)) \
    X(46,  1,  ort_status *, set_terminate,         (ort_run_options *)) \
    X(48,  1,  ort_status *, new_tensor,            (ort_allocator *, const int64_t *dims, size_t rank, int type, ort_value **)) \
    X(49,  1,  ort_status *, create_tensor,         (const ort_memory_info *, void *data, size_t bytes, const int64_t *dims, size_t rank, int type, ort_value **)) \
    X(51,  1,  ort_status *, tensor_data,           (ort_value *, void **)) \
    X(52,  1,  ort_status *, fill_strings,          (ort_value *, ort_strings, size_t)) \
    X(55,  1,  ort_status *, type_to_tensor,        (const ort_type_info *, const ort_tensor_info **)) \
    X(60,  1,  ort_status *, element_type,          (const ort_tensor_info *, int *)) \
    X(61,  1,  ort_status *, rank,                  (const ort_tensor_info *, size_t *)) \
    X(62,  1,  ort_status *, dims,                  (const ort_tensor_info *, int64_t *, size_t rank)) \
    X(63,  1,  ort_status *, dim_names,             (const ort_tensor_info *, const char **, size_t rank)) \
    X(65,  1,  ort_status *, value_type,            (const ort_value *, ort_tensor_info **)) \
    X(67,  1,  ort_status *, value_kind,            (const ort_value *, int *)) \
    X(69,  1,  ort_status *, create_cpu_memory,     (int allocator, int kind, ort_memory_info **)) \
    X(76,  1,  ort_status *, allocator_free,        (ort_allocator *, void *)) \
    X(78,  1,  ort_status *, default_allocator,     (ort_allocator **)) \
    X(92,  1,  void,         release_env,           (ort_env *)) \
    X(93,  1,  void,         release_status,        (ort_status *)) \
    X(94,  1,  void,         release_memory,        (ort_memory_info *)) \
    X(95,  1,  void,         release_session,       (ort_session *)) \
    X(96,  1,  void,         release_value,         (ort_value *)) \
    X(97,  1,  void,         release_run_options,   (ort_run_options *)) \
    X(98,  1,  void,         release_type,          (ort_type_info *)) \
    X(99,  1,  void,         release_tensor_info,   (ort_tensor_info *)) \
    X(100, 1,  void,         release_options,       (ort_options *)) \
    X(110, 2,  ort_status *, end_profiling,         (ort_session *, ort_allocator *, char **)) \
    X(124, 3,  ort_status *, set_dim,               (ort_options *, const char *name, int64_t)) \
    X(130, 5,  ort_status *, set_config,            (ort_options *, const char *key, const char *value)) \
    X(131, 5,  ort_status *, create_allocator,      (const ort_session *, const ort_memory_info *, ort_allocator **)) \
    X(132, 5,  void,         release_allocator,     (ort_allocator *)) \
    X(150, 6,  ort_status *, add_initializer,       (ort_options *, const char *name, const ort_value *)) \
    X(170, 9,  ort_status *, append_tensorrt,       (ort_options *, const ort_ep_options *)) \
    X(171, 9,  ort_status *, create_tensorrt,       (ort_ep_options **)) \
    X(172, 9,  ort_status *, update_tensorrt,       (ort_ep_options *, ort_strings keys, ort_strings values, size_t)) \
    X(174, 9,  void,         release_tensorrt,      (ort_ep_options *)) \
    X(204, 11, ort_status *, append_cuda,           (ort_options *, const ort_ep_options *)) \
    X(205, 11, ort_status *, create_cuda,           (ort_ep_options **)) \
    X(206, 11, ort_status *, update_cuda,           (ort_ep_options *, ort_strings keys, ort_strings values, size_t)) \
    X(208, 11, void,         release_cuda,          (ort_ep_options *)) \
    X(216, 12, ort_status *, append_provider,       (ort_options *, const char *name, ort_strings keys, ort_strings values, size_t)) \
    X(254, 15, const char *, build_info,            (void)) \
    X(266, 17, ort_status *, set_logger,            (ort_options *, ort_log_fn *, void *param)) \
    X(293, 22, ort_status *, set_load_cancelled,    (ort_options *, bool)) \
    X(298, 22, void,         pairs,                 (const ort_pairs *, ort_strings *keys, ort_strings *values, size_t *)) \
    X(300, 22, void,         release_pairs,         (ort_pairs *)) \
    X(319, 23, ort_status *, allocator_stats,       (const ort_allocator *, ort_pairs **))
/* clang-format on */

typedef struct ort_api {
#define ORT_MEMBER(slot, since, result, name, params) result(*name) params;
    ORT_FUNCTIONS(ORT_MEMBER)
#undef ORT_MEMBER
    int minor;           /* of the library's version 1.minor.patch */
    const char *version; /* the library's own string */
    const char *library; /* path, in the arena */
    void *handle;
} ort_api;

/* Loads the library of config->library, ASSAY_ORT_LIB or the first place of ort_find.h that has a
 * fitting one. Telemetry is switched off in this process's environment before. */
struct engine_config;
assay_status ort_api_load(const struct engine_config *config, arena *a, ort_api *out,
                          assay_error *err);
/* The library itself stays in memory: threads of its own may still be in it. */
void ort_api_unload(ort_api *api);

/* Turns a status into an error and releases it; NULL is OK. os_error is ENOMEM when memory ran out. `what` goes before the runtime's words:
 * "ONNX Runtime <what>: ...". */
assay_status ort_check(const ort_api *api, ort_status *status, const char *what, assay_error *err);

#endif
