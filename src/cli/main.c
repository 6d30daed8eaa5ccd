/* The assay program. Its exit codes are the statuses of <assay/assay.h>. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define STDOUT_BUFFER ((size_t)1 << 20)

static int dispatch(cli_args *args)
{
    if (args->help)
        return args->command ? cli_help_of(args->command) : cli_help();
    if (args->version)
        return cli_find_command("version")->run(args);
    return args->command->run(args);
}

/* Hides what may hold a password from the list of processes: such an argument is copied, and overwritten where the system
 * shows it. */
static void hide_passwords(int argc, char **argv)
{
    static const char *const marks[] = {"postgresql://", "postgres://", "password="};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            char *from = strstr(argv[i], marks[k]), *copy = from ? strdup(argv[i]) : NULL;
            if (!copy)
                continue;
            memset(from + strlen(marks[k]), '*', strlen(from + strlen(marks[k])));
            argv[i] = copy;
        }
}

int main(int argc, char **argv)
{
    cli_args args;
    assay_error err;
    /* A pipe that is closed early shows as EPIPE where it can be told from a full disk. */
    signal(SIGPIPE, SIG_IGN);
    hide_passwords(argc, argv);
    /* Lists are written at once, so that errno is that of the write that failed. */
    char *buffer = malloc(STDOUT_BUFFER);
    if (buffer)
        setvbuf(stdout, buffer, _IOFBF, STDOUT_BUFFER);
    if (argc < 2) {
        cli_complain_text(ASSAY_ERR_USAGE,
                          "no model. Use `assay MODEL`, or `assay help` for the commands.");
        return ASSAY_ERR_USAGE;
    }
    int code = cli_parse(argc, argv, &args, &err) == ASSAY_OK ? dispatch(&args)
                                                              : cli_complain(&err);
    int flushed = cli_flush();
    cli_args_free(&args);
    return code ? code : flushed;
}
