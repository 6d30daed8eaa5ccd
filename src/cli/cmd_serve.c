/* assay serve: executes assay-serve, a separate program, so that no other command loads an HTTP library. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* "FOLDER/assay-serve" of the directory that this program lies in. */
static bool beside(char *path, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", path, cap - 1);
    if (n <= 0 || (size_t)n >= cap - 1)
        return false;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    size_t room = slash ? cap - (size_t)(slash + 1 - path) : 0;
    return slash && (size_t)snprintf(slash + 1, room, "assay-serve") < room;
}

/* A database may be named with a password, which does not go into another list of arguments. */
static bool is_passed_on(const cli_args *args, int *i)
{
    const char *text = args->argv[*i];
    if (!args->history.db || !assay_store_is_remote(args->history.db) ||
        strncmp(text, "--db", 4) != 0 || (text[4] && text[4] != '='))
        return true;
    *i += text[4] ? 0 : 1;
    return setenv("ASSAY_DB", args->history.db, 1) != 0;
}

static int run_serve(cli_args *args)
{
    char path[PATH_MAX];
    char **argv = calloc((size_t)args->argc + 1, sizeof *argv);
    int n = 0;
    bool verb = false;
    if (!argv)
        return cli_complain_text(ASSAY_ERR_SYSTEM, "out of memory");
    argv[n++] = path;
    for (int i = 1; i < args->argc; i++) {
        if (!verb && strcmp(args->argv[i], "serve") == 0)
            verb = true; /* the first: a token may be called so too, and follows its option */
        else if (is_passed_on(args, &i))
            argv[n++] = args->argv[i];
    }
    if (!beside(path, sizeof path)) {
        free(argv);
        return cli_complain_text(ASSAY_ERR_SYSTEM, "cannot find the path of this program");
    }
    fflush(stdout);
    execv(path, argv);
    int why = errno;
    free(argv);
    if (why == ENOENT)
        return cli_complain_text(
            ASSAY_ERR_SYSTEM,
            "%.200s: not found. Install libmicrohttpd (Debian: libmicrohttpd-dev) and build "
            "again.",
            path);
    return cli_complain_text(ASSAY_ERR_SYSTEM, "%.200s: cannot start: %s", path, strerror(why));
}

static const char *const serve_examples[] = {
    "assay serve",
    "serve on a free port of this machine and print the address",
    "assay serve --port 8080 --db team.db",
    "with a given port and history",
    "assay serve --host 0.0.0.0 --port 8080 --token-file secret",
    "also for other machines, with a token",
    NULL,
};

const cli_command command_serve = {
    CLI_COMMAND("serve", "", 0, 0, run_serve), .classes = "", .examples = serve_examples,
    .about = "Serve the dashboard of the history: an HTML page and a JSON API.",
    .more = "Starts assay-serve, which is installed beside assay. It listens on 127.0.0.1. "
            "Another --host requires a token. docs/serve.md and /openapi.json "
            "describe the API."};
