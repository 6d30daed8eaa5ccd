/* Engines that run models, behind one vtable.
 *
 *   engine            a loaded runtime and its clock          engine_open … engine_close
 *   └ engine_session  one model made ready to run             engine_session_open … _close
 *     └ engine_job    one caller's inputs and outputs of it   engine_job_open … _close
 *
 * Children are closed before their parents. A session may be run by several threads at once when each has its own
 * job; everything else of one engine belongs to one thread at a time, but for engine_now_ns(), engine_session_stop()
 * and the messages of a session, which any thread may use.
 *
 * Every failure of a runtime is ASSAY_ERR_ENGINE with the runtime's own words in the sentence, and ENOMEM in
 * os_error when memory ran out. Time is
 * always asked of the engine: the null engine's clock is scripted, so what stands on this header is
 * tested without a real clock.
 *
 * Strings and arrays that are returned are valid as long as the object they were asked of, unless said otherwise.
 * Options and models are read during the call and not kept, but where it says "borrows".
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/dtype.h"

typedef struct engine engine;
typedef struct engine_session engine_session;
typedef struct engine_job engine_job;
struct engine_script; /* engine/null.h */

/* ---- engines --------------------------------------------------------------------------------- */

typedef struct engine_config {
    const char *library;        /* the file to load and no other, or NULL: look for one */
    const char *const *folders; /* also looked into, last of all; ends with NULL; may be NULL */
    const struct engine_script *script; /* null engine: what will happen; borrowed until closed */
} engine_config;

typedef struct engine_row {
    const char *name, *about;
    assay_status (*open)(const engine_config *config, engine **out, assay_error *err);
} engine_row;

extern const engine_row engine_table[];
extern const uint32_t engine_table_n;

/* By row name ("ort"). config may be NULL. An unknown name is ASSAY_ERR_USAGE; a library that is
 * missing, too old or no runtime at all is ASSAY_ERR_ENGINE and the sentence says how to get one. */
assay_status engine_open(const char *name, const engine_config *config, engine **out,
                         assay_error *err);
void engine_close(engine *e); /* NULL is allowed */

typedef struct engine_info {
    const char *name;    /* row name */
    const char *title;   /* "ONNX Runtime" */
    const char *version; /* "1.30.0" */
    const char *library; /* path of the file that was loaded, or "" */
    const char *build;   /* what the runtime says of its build, or "" */
    uint64_t load_ns;    /* loading the library and making the environment */
} engine_info;
const engine_info *engine_about(const engine *e);

/* Whether the engine's kernels of that operator write over a dying input of the same size. */
bool engine_works_in_place(const engine *e, str domain, str op);

/* Monotonic nanoseconds of the engine's clock. */
uint64_t engine_now_ns(engine *e);
/* Returns at that time, at once when it is past; a signal may end it early. */
void engine_sleep_until(engine *e, uint64_t when_ns);

/* ---- sessions -------------------------------------------------------------------------------- */

typedef struct engine_model {
    /* An ONNX file, whose external data beside it is mapped and not copied; or NULL and the rest. */
    const char *path;
    const void *bytes; /* the file's bytes; not kept */
    size_t n_bytes;
    const char *folder; /* of the bytes' external data, or NULL; runtimes before 1.22 want a path */
    /* What sentences call a copy that the user does not know by its path: "'m.onnx' re-batched to 4"; or
     * NULL: the path. */
    const char *called;
} engine_model;

typedef struct engine_setting {
    const char *key, *value;
} engine_setting;

typedef struct engine_dim_value {
    const char *name; /* of a symbolic dimension */
    int64_t value;
} engine_dim_value;

/* Data in the caller's memory, no copy is made: dims and data are borrowed. size_bytes must be what
 * dtype and dims say. */
typedef struct engine_tensor {
    ir_dtype dtype;
    int rank;
    const int64_t *dims;
    void *data; /* of strings: an array of const char * */
    uint64_t size_bytes;
} engine_tensor;

/* An initialiser of the model whose data is the caller's: used in place, borrowed until the session is
 * closed. The model must name it as external data, and the file that it names must exist and be long
 * enough, though it may be one hole: it is not read. */
typedef struct engine_weight {
    const char *name;
    engine_tensor tensor;
} engine_weight;

enum { ENGINE_OPT_OFF = 0, ENGINE_OPT_BASIC = 1, ENGINE_OPT_EXTENDED = 2, ENGINE_OPT_ALL = 99 };

/* Begin from ENGINE_OPTIONS. */
typedef struct engine_options {
    int threads;      /* inside an operator; 0: the engine chooses */
    int opt_level;    /* ENGINE_OPT_* */
    bool spin;        /* idle threads wait by spinning */
    bool mem_pattern; /* memory planned ahead from the first run; off for an exact peak */
    bool reuse;  /* a dead tensor's buffer is kept for a later one of its size; off: given back */
    bool arena;  /* freed memory is held for later; off: no memory statistics */
    bool strict; /* a device that does not exist is an error, not a fall-back to the CPU */
    const char *device;         /* "cpu", "cuda", "cuda:1" or a provider's name; NULL is cpu */
    const char *profile_prefix; /* of a trace file, see engine_profile_end; or NULL */
    const char *optimised_path; /* the model as optimised is written there; or NULL */
    /* Of the device's provider. What begins like a setting of the session ("session.") is taken as one, on
     * every device; the CPU's provider has no options of its own. */
    const engine_setting *provider_options;
    const engine_setting *settings; /* the engine's own session settings, as they are */
    const engine_dim_value *dims;
    const engine_weight *weights;
    uint32_t n_provider_options, n_settings, n_dims, n_weights;
    /* Asked by another thread while the session is made: true ends that, with ASSAY_ERR_ENGINE, where the
     * runtime can be stopped (from 1.22 on). May be NULL. */
    bool (*cancelled)(void *ctx);
    void *ctx;
} engine_options;

#define ENGINE_OPTIONS                             \
    ((engine_options){.opt_level = ENGINE_OPT_ALL, \
                      .spin = true,                \
                      .mem_pattern = true,         \
                      .reuse = true,               \
                      .arena = true})

/* options may be NULL: ENGINE_OPTIONS. A model that the engine refuses is ASSAY_ERR_ENGINE. */
assay_status engine_session_open(engine *e, const engine_model *model,
                                 const engine_options *options, engine_session **out,
                                 assay_error *err);
void engine_session_close(engine_session *s); /* NULL is allowed */

typedef struct engine_io {
    const char *name;
    bool is_tensor;             /* else a sequence, map, optional or sparse tensor */
    ir_dtype dtype;             /* IR_UNDEFINED when it is no tensor or unknown to us */
    int rank;                   /* -1 when unknown */
    const int64_t *dims;        /* -1 where not fixed */
    const char *const *symbols; /* names of those, "" where there is none */
} engine_io;

typedef struct engine_session_info {
    const engine_io *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    const char *device;       /* where it runs: "cpu", "cuda", … */
    bool fell_back;           /* another device was requested */
    const char *fallback_why; /* a whole sentence for a warning, or "" */
    uint64_t create_ns;       /* time that making the session took */
} engine_session_info;
const engine_session_info *engine_session_about(const engine_session *s);

/* What the runtime logged since the session was begun, oldest first; at most ENGINE_MESSAGES_MAX are
 * kept and the rest is counted. False past the end. The text is copied into `text`. */
#define ENGINE_MESSAGES_MAX 64
typedef struct engine_message {
    int severity; /* 2 warning, 3 error, 4 fatal */
    char text[512];
} engine_message;
bool engine_session_message(engine_session *s, uint32_t index, engine_message *out);
uint32_t engine_session_messages_dropped(engine_session *s);

/* Makes running and later runs of the session fail soon with a sentence; from any thread. */
void engine_session_stop(engine_session *s);

/* Statistics of the engine's CPU arena for this session, in bytes. */
typedef struct engine_memory {
    uint64_t in_use;     /* handed out, rounded up as the arena does */
    uint64_t requested;  /* what was requested in those */
    uint64_t max_in_use; /* highest in_use since the session was made */
    uint64_t held;       /* taken from the system: in use and kept for later */
    uint64_t max_alloc;  /* largest single one */
    uint64_t n_allocs, n_extensions, n_reserves;
    bool has_requested; /* the engine tells it; else requested = in_use */
} engine_memory;
/* False when the engine cannot tell (arena off, or a version before 1.23). */
bool engine_session_memory(engine_session *s, engine_memory *out);

/* Ends the profile of a session opened with profile_prefix; *path is the trace file, kept by the session; the caller
 * removes the file. engine/trace.h reads it. The date in its name is exact to the second with old runtimes, and a
 * session that fails to open leaves a file too: give every session a prefix in a directory of its own. */
assay_status engine_profile_end(engine_session *s, const char **path, assay_error *err);

/* ---- jobs ------------------------------------------------------------------------------------ */

/* One tensor per input of the session, in its order; rank and dtype are checked here, the engine
 * checks sizes in the run. Borrows the data of all inputs until closed, and copies the rest: the
 * data may be changed between runs. String tensors are ASSAY_ERR_UNSUPPORTED. */
assay_status engine_job_open(engine_session *s, const engine_tensor *inputs, uint32_t n_inputs,
                             engine_job **out, assay_error *err);
void engine_job_close(engine_job *j); /* NULL is allowed */

/* One inference: nothing is done beside the runtime's own call. Outputs are made by the engine
 * anew in each run; those of the run before are dropped first, so a loop that measures calls
 * engine_job_drop() outside its clock. After a failure there are no outputs. */
assay_status engine_job_run(engine_job *j, assay_error *err);
void engine_job_drop(engine_job *j);

/* The output of the last run, in place: valid until the next run, drop or close. Fails when there
 * was none, when it is no tensor, holds strings or does not lie in CPU memory. */
assay_status engine_job_output(engine_job *j, uint32_t index, engine_tensor *out, assay_error *err);

#endif
