/* assay map: a model on devices. assay devices: the devices themselves. */
#include <fnmatch.h>
#include <string.h>

#include "cli/job.h"

/* ---- map ---- */

int cmd_map(cli_args *args)
{
    return cli_job_view(args, assay_map, "map");
}

/* ---- devices ---- */

static bool matches(const assay_device_info *d, const char *pattern)
{
    const char *texts[] = {d->id, d->name, d->kind, d->aliases};
    for (int i = 0; i < 4 && pattern; i++)
        if (strpbrk(pattern, "*?[") ? fnmatch(pattern, texts[i], FNM_CASEFOLD) == 0
                                    : strcasestr(texts[i], pattern) != NULL)
            return true;
    return !pattern;
}

static void json_number(const char *key, double v)
{
    if (v > 0)
        printf(", \"%s\": %.10g", key, v);
    else
        printf(", \"%s\": null", key);
}

static void put_json(const assay_device_info *d, bool first)
{
    const char *const texts[][2] = {
        {"id", d->id},      {"aliases", d->aliases},     {"name", d->name},
        {"class", d->kind}, {"certainty", d->certainty}, {"source", d->source}};
    fputs(first ? "  {" : ",\n  {", stdout);
    for (int i = 0; i < 6; i++) {
        fputs(i ? ", " : "", stdout);
        cli_json_text(texts[i][0], texts[i][1]);
    }
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++) {
        char key[32];
        bool whole = strcmp(assay_device_precision(p), "int8") == 0;
        snprintf(key, sizeof key, "%s_%s", assay_device_precision(p), whole ? "tops" : "tflops");
        json_number(key, d->peak[p] / 1e12);
    }
    json_number("memory_gib", d->memory_bytes / (1024.0 * 1024 * 1024));
    json_number("bandwidth_gbs", d->bandwidth / 1e9);
    json_number("tdp_w", d->power_w);
    json_number("overhead_us", d->overhead_s * 1e6);
    putchar('}');
}

static void put_cell(double v)
{
    if (v > 0)
        printf(" %7.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
    else
        printf(" %7s", "-");
}

static void put_titles(void)
{
    printf("%-18s %-5s", "device", "class");
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++)
        printf(" %7s", assay_device_precision(p));
    printf(" %7s %7s %7s  %s\n", "GiB", "GB/s", "W", "figures");
}

/* A name from a user's file: what a terminal would obey is shown as a dot. */
static void put_word(const char *text, int width)
{
    int n = 0;
    for (; *text && n < width; text++, n++)
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? '.' : *text);
    printf("%*s", width - n, "");
}

static void put_line(const assay_device_info *d)
{
    put_word(d->id, 18);
    putchar(' ');
    put_word(d->kind, 5);
    for (size_t p = 0; p < ASSAY_DEVICE_PRECISIONS; p++)
        put_cell(d->peak[p] / 1e12);
    put_cell(d->memory_bytes / (1024.0 * 1024 * 1024));
    put_cell(d->bandwidth / 1e9);
    put_cell(d->power_w);
    fputs("  ", stdout);
    put_word(d->certainty, (int)strlen(d->certainty));
    putchar('\n');
}

static void put_source(const assay_device_info *d)
{
    char text[600];
    size_t n = 0;
    for (const char *p = d->source; *p && n + 1 < sizeof text; p++)
        text[n++] = (unsigned char)*p < ' ' || *p == 0x7f ? '.' : *p;
    text[n] = '\0';
    fputs("    ", stdout);
    cli_wrap(text, 4, 4, cli_width());
}

static int put_all(const assay_devices *list, const char *pattern, bool json)
{
    assay_device_info d = {.size = sizeof d};
    int shown = 0, all = 0;
    for (size_t i = 0; assay_devices_at(list, i, &d); i++)
        all += matches(&d, pattern);
    for (size_t i = 0; assay_devices_at(list, i, &d); i++) {
        if (!matches(&d, pattern))
            continue;
        if (json) {
            put_json(&d, shown == 0);
        } else {
            if (shown == 0)
                put_titles();
            put_line(&d);
            if (all <= 8 && *d.source)
                put_source(&d);
        }
        shown++;
    }
    return shown;
}

int cmd_devices(cli_args *args)
{
    const char *pattern = args->n_words ? args->words[0] : NULL;
    assay_devices *list = NULL;
    assay_error err;
    int json = cli_as_json(args);
    if (json < 0)
        return ASSAY_ERR_USAGE;
    if (assay_devices_open(args->hardware, &list, &err) != ASSAY_OK)
        return cli_complain(&err);
    if (json)
        puts("[");
    int shown = put_all(list, pattern, json);
    if (json)
        puts(shown ? "\n]" : "]");
    else if (shown)
        puts(
            "\nPeaks are dense tera-operations per second; - is not there or not published. Few rows, or "
            "--json,\nshow each row's source.");
    assay_devices_free(list);
    if (shown == 0)
        return cli_complain_text(ASSAY_ERR_USAGE, "No device matches '%.100s'.", pattern);
    return ASSAY_OK;
}
