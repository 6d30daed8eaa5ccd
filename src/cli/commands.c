/* The list of commands. The row of a command, with its texts, is in its own file. */
#include <string.h>

#include "cli/cli.h"

/* In the order of help. NATIVE: runs models, keeps a history, writes models, starts processes or serves a shell, which a
 * build for WebAssembly (wasm/) does not. */
#ifdef __wasm__
#define NATIVE(X, name)
#else
#define NATIVE(X, name) X(name)
#endif
#define COMMANDS(X)       \
    X(graph)              \
    NATIVE(X, profile)    \
    NATIVE(X, bench)      \
    NATIVE(X, layers)     \
    X(memory)             \
    X(compare)            \
    NATIVE(X, check)      \
    X(report)             \
    X(validate)           \
    X(map)                \
    X(fuse)               \
    X(scale)              \
    NATIVE(X, sweep)      \
    NATIVE(X, history)    \
    NATIVE(X, trend)      \
    NATIVE(X, capacity)   \
    NATIVE(X, serve)      \
    NATIVE(X, mcp)        \
    X(devices)            \
    X(models)             \
    NATIVE(X, export)     \
    X(pipeline)           \
    X(ops)                \
    NATIVE(X, machine)    \
    X(lenses)             \
    NATIVE(X, doctor)     \
    NATIVE(X, watch)      \
    NATIVE(X, load)       \
    NATIVE(X, completion) \
    X(help)               \
    X(version)

#define DECLARED(name) extern const cli_command command_##name;
#define LISTED(name)   &command_##name,

COMMANDS(DECLARED)

static const cli_command *const commands[] = {COMMANDS(LISTED)};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

const assay_status cli_exit_codes[] = {
    ASSAY_OK,
    ASSAY_ERR_SYSTEM,
    ASSAY_ERR_USAGE,
    ASSAY_ERR_MALFORMED,
    ASSAY_ERR_UNSUPPORTED,
    ASSAY_ERR_ENGINE,
    ASSAY_ERR_THRESHOLD,
    ASSAY_ERR_INCONCLUSIVE,
    ASSAY_ERR_INTERRUPTED,
};
const size_t cli_n_exit_codes = sizeof cli_exit_codes / sizeof *cli_exit_codes;

const cli_command *cli_command_at(size_t index)
{
    return index < N_COMMANDS ? commands[index] : NULL;
}

const char *cli_command_name_at(size_t i, const void *ctx)
{
    (void)ctx;
    return i < N_COMMANDS ? commands[i]->name : NULL;
}

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

bool cli_command_is(const cli_command *c, const char *class_name)
{
    return cli_has_word(c->classes, ' ', class_name, strlen(class_name));
}
