/* The list of commands. The row of a command, with its texts, is in its own file. */
#include <string.h>

#include "cli/cli.h"

/* In the order of help. NATIVE: runs models, keeps a history, writes models, starts processes or serves a shell, which a
 * build for WebAssembly (wasm/) does not. */
#define COMMANDS(X, NATIVE) \
    X(graph)                \
    NATIVE(profile)         \
    NATIVE(bench)           \
    NATIVE(layers)          \
    X(memory)               \
    X(compare)              \
    NATIVE(check)           \
    X(report)               \
    X(validate)             \
    X(map)                  \
    X(fuse)                 \
    X(scale)                \
    NATIVE(sweep)           \
    NATIVE(history)         \
    NATIVE(trend)           \
    NATIVE(capacity)        \
    NATIVE(serve)           \
    NATIVE(mcp)             \
    X(devices)              \
    X(models)               \
    NATIVE(export)          \
    X(pipeline)             \
    X(ops)                  \
    NATIVE(machine)         \
    X(lenses)               \
    NATIVE(doctor)          \
    NATIVE(watch)           \
    NATIVE(load)            \
    NATIVE(completion)      \
    X(help)                 \
    X(version)

#define DECLARED(name) extern const cli_command command_##name;
#define LISTED(name)   &command_##name,
#define NAMED(name)    #name " "
#define NOTHING(name)

#ifdef __wasm__
COMMANDS(DECLARED, NOTHING)
static const cli_command *const commands[] = {COMMANDS(LISTED, NOTHING)};
static const char left_out[] = "" COMMANDS(NOTHING, NAMED);
#else
COMMANDS(DECLARED, DECLARED)
static const cli_command *const commands[] = {COMMANDS(LISTED, LISTED)};
static const char left_out[] = "";
#endif
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

bool cli_is_left_out(const char *name)
{
    return cli_has_word(left_out, ' ', name, strlen(name));
}

bool cli_command_is(const cli_command *c, const char *class_name)
{
    return cli_has_word(c->classes, ' ', class_name, strlen(class_name));
}
