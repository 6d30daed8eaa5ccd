/* Options: each line is "name=value", or "name" for a flag. Every value is taken or refused with a sentence; what was
 * taken can be asked for. The text as a whole is also tried as ASSAY_LIMITS. */
#include <assay/study.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_line(assay_options *o, char *line)
{
    assay_error err = {0};
    char *equals = strchr(line, '=');
    if (equals)
        *equals = '\0';
    if (strcmp(line, "ops") == 0 || strcmp(line, "config") == 0)
        return; /* names of files */
    assay_status s = assay_options_set(o, line, equals ? equals + 1 : NULL, &err);
    if (s == ASSAY_OK ? !assay_options_get(o, line) : err.code != s || !err.message[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_options *o = assay_options_new();
    char *text = malloc(size + 1), *rest = NULL;
    assay_error err = {0};
    if (o && text && size < 1 << 16) {
        memcpy(text, data, size);
        text[size] = '\0';
        if (assay_limits_check(text, &err) != ASSAY_OK && !err.message[0])
            abort();
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            set_line(o, line);
    }
    free(text);
    assay_options_free(o);
    return 0;
}
