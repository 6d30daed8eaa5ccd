/* assay-serve: takes the token, starts the server and waits for the signal to stop. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "serve/serve.h"

static int complain(assay_status code, const char *what)
{
    fprintf(stderr, "assay-serve: %s\n", what);
    return (int)code;
}

/* ---- the token ---- */

static int make_token(char out[129])
{
    unsigned char raw[24];
    if (getrandom(raw, sizeof raw, 0) != sizeof raw)
        return complain(ASSAY_ERR_SYSTEM, "no random bytes for a token");
    for (size_t i = 0; i < sizeof raw; i++)
        sprintf(out + 2 * i, "%02x", raw[i]);
    return -1;
}

/* The library reads the file; the first line is the token. */
static int read_token(const char *path, char out[129])
{
    char *text = NULL;
    size_t n = 0;
    assay_error err;
    if (assay_file_read(path, 4096, &text, &n, &err) != ASSAY_OK)
        return complain(err.code, err.message);
    size_t line = strcspn(text, "\r\n");
    snprintf(out, 129, "%.*s", (int)(line < 128 ? line : 128), text);
    assay_free(text);
    return -1;
}

static int take_token(server *s)
{
    const serve_options *o = &s->options;
    const char *given = o->token ? o->token : getenv("ASSAY_TOKEN");
    if (o->token_file) {
        int code = read_token(o->token_file, s->token);
        if (code >= 0)
            return code;
    } else if (given && strcmp(given, "auto") == 0) {
        return make_token(s->token);
    } else if (given && strlen(given) <= 128) {
        snprintf(s->token, sizeof s->token, "%s", given);
    }
    if (!o->token_file && !given)
        return -1;
    if (o->token && !o->token_file)
        fputs("assay-serve: warning: other users can read --token in the process list. Use "
              "--token-file FILE.\n",
              stderr);
    size_t n = strlen(s->token);
    if (n < 16 ||
        strspn(s->token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-") != n)
        return complain(ASSAY_ERR_USAGE, "a token must be 16 to 128 letters, digits and . _ ~ -. "
                                         "Use --token auto to generate one.");
    return -1;
}

/* ---- running ---- */

static void wait_for_end(void)
{
    sigset_t ends;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigwait(&ends, &signal_number);
}

static int serve(server *s)
{
    int code = ASSAY_ERR_SYSTEM;
    assay_error err = {0};
    if (!sweeps_open(s, &err)) {
        code = complain(err.code, err.message);
    } else if (server_start(s)) {
        bool made_up = s->options.token && strcmp(s->options.token, "auto") == 0;
        printf("%s%s%s\n", s->url, made_up ? "?token=" : "", made_up ? s->token : "");
        fflush(stdout);
        if (!s->loopback)
            fprintf(stderr,
                    "assay-serve: from other machines, open http://%s:%s/ or another address or "
                    "--allow-host name of this machine; the page asks for the token\n",
                    *s->hostname ? s->hostname : s->bound, s->port);
        wait_for_end();
        code = ASSAY_OK;
    } else if (s->refused) {
        code = ASSAY_ERR_USAGE;
    }
    server_stop(s);
    return code;
}

int main(int argc, char **argv)
{
    /* What runs at exit, as a sanitizer's search for leaks, may make calls that the sandbox forbids. */
    if (argc == 3 && strcmp(argv[1], "--worker") == 0)
        _exit(worker_main(argv[2], true));
    if (argc == 3 && strcmp(argv[1], "--free-worker") == 0)
        return worker_main(argv[2], false);
    if (argc == 3 && strcmp(argv[1], "--files-worker") == 0)
        return files_worker_main(argv[2]);
    sigset_t ends;
    server *s = calloc(1, sizeof *s);
    if (!s)
        return ASSAY_ERR_SYSTEM;
    /* Every thread that is made inherits this: only main hears of the end. */
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    /* A heap for each of a hundred threads would hold on to a hundred times the memory. */
    mallopt(M_ARENA_MAX, 2);
    int code = options_read(argc, argv, &s->options);
    if (code < 0)
        code = take_token(s);
    if (code < 0)
        code = serve(s);
    free(s);
    return code;
}
