/* The terminal, stdout and stderr. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { WIDTH_MIN = 60, WIDTH_MAX = 200, WIDTH_DEFAULT = 80 };

int cli_complain(const assay_error *err)
{
    fprintf(stderr, "assay: %s\n", err->message);
    return (int)err->code;
}

int cli_complain_text(assay_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("assay: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return (int)code;
}

static int write_failed(void)
{
    if (errno == EPIPE)
        return ASSAY_OK;
    return cli_complain_text(ASSAY_ERR_SYSTEM, "cannot write to stdout: %s", strerror(errno));
}

int cli_print(const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return write_failed();
        at += done;
        n -= (size_t)done;
    }
    return ASSAY_OK;
}

int cli_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return ASSAY_OK;
    clearerr(stdout); /* said once */
    return write_failed();
}

static unsigned clamp_width(long width)
{
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

unsigned cli_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    if (columns && *columns) {
        char *end;
        long n = strtol(columns, &end, 10);
        if (*end == '\0' && n > 0)
            return clamp_width(n);
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp_width(size.ws_col);
    return WIDTH_DEFAULT;
}

bool cli_color(int when)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != WHEN_AUTO)
        return when == WHEN_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* Reads environment variables instead of setlocale(), because reading locale files takes longer than analysing a
 * small model. */
bool cli_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

unsigned cli_columns(const cli_args *a)
{
    const char *given = assay_options_get(a->options, "columns");
    return given ? (unsigned)strtoul(given, NULL, 10) : cli_width();
}

bool cli_ascii(const cli_args *a)
{
    const char *given = assay_options_get(a->options, "ascii");
    return given ? strcmp(given, "true") == 0 : !cli_utf8();
}

void cli_describe_screen(cli_args *a)
{
    char columns[16];
    snprintf(columns, sizeof columns, "%u", cli_columns(a));
    assay_options_set(a->options, "columns", columns, NULL);
    assay_options_set(a->options, "ascii", cli_ascii(a) ? "true" : "false", NULL);
}

/* ---- slips ---- */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edit distance, a swap of neighbours counting one, of words of up to 31 letters. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned d[3][32]; /* two rows back, one row back, this row */
    if (n > 31 || m > 31)
        return 99;
    for (size_t j = 0; j <= m; j++)
        d[1][j] = d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        d[2][0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            d[2][j] = least(d[1][j] + 1, d[2][j - 1] + 1, d[1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[0][j - 2] + 1 < d[2][j])
                d[2][j] = d[0][j - 2] + 1;
        }
        memcpy(d[0], d[1], sizeof d[0]);
        memcpy(d[1], d[2], sizeof d[1]);
    }
    return d[1][m];
}

const char *cli_nearest(const char *word, const char *(*name_at)(size_t i, const void *ctx),
                        const void *ctx)
{
    size_t length = strlen(word);
    unsigned best = length < 4 ? 2 : length < 8 ? 3 : 4; /* one more than what is a slip */
    const char *found = NULL, *name;
    for (size_t i = 0; (name = name_at(i, ctx)) != NULL; i++) {
        unsigned d = distance(word, name);
        if (d < best) {
            best = d;
            found = name;
        }
    }
    return found;
}

int cli_no_match(const char *what, const char *pattern,
                 const char *(*name_at)(size_t i, const void *ctx), const void *ctx)
{
    const char *near = cli_nearest(pattern, name_at, ctx);
    return near ? cli_complain_text(ASSAY_ERR_USAGE, "no %s matches '%.100s'. Did you mean '%s'?",
                                    what, pattern, near)
                : cli_complain_text(ASSAY_ERR_USAGE, "no %s matches '%.100s'. Omit it to list all.",
                                    what, pattern);
}

void cli_wrap_to(FILE *f, const char *text, unsigned column, unsigned indent, unsigned width)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > indent && column + 1 + n > width) {
            fprintf(f, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', f);
            column++;
        }
        fprintf(f, "%.*s", (int)n, text);
        column += (unsigned)n;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', f);
}

void cli_wrap(const char *text, unsigned column, unsigned indent, unsigned width)
{
    cli_wrap_to(stdout, text, column, indent, width);
}
