/* Secrets in texts, and texts that only look like them. */
#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// clang-format off
#include <cmocka.h>
// clang-format on

typedef struct redact_row {
    const char *text, *kept; /* kept NULL: as it is */
} redact_row;

static const redact_row rows[] = {
    {"https://me:hunter2@host/m.onnx", "https://me:***@host/m.onnx"},
    {"https://me:hu:nt@er2@host/m", "https://me:***@host/m"},
    {"https://ghp_123@github.com/x", "https://***@github.com/x"},
    {"{\"a\":\"https:\\/\\/me:hunter2@host\\/m\"}", "{\"a\":\"https:\\/\\/me:***@host\\/m\"}"},
    {"postgres://u:p@db/x postgres://u:q@db/y", "postgres://u:***@db/x postgres://u:***@db/y"},
    {"ssh://git@host/x", NULL},
    {"https://host/a@b:c", NULL},
    {"https://host:80/x", NULL},
    {"assay serve --token abc --port 1", "assay serve --token *** --port 1"},
    {"assay --hub-token=abc x", "assay --hub-token=*** x"},
    {"x --password 'a b' y", "x --password '***' y"},
    {"HF_TOKEN=abc assay x", "HF_TOKEN=*** assay x"},
    {"/?model=x&token=abc&y=1", "/?model=x&token=***&y=1"},
    {"{\"c\":\"x --api-key abc\",\"d\":1}", "{\"c\":\"x --api-key ***\",\"d\":1}"},
    {"curl -H 'Authorization: Basic abc=' u", "curl -H 'Authorization: ***' u"},
    {"{\"h\":\"bearer abc\"}", "{\"h\":\"bearer ***\"}"},
    {"{\"h\":\"x-api-key:abc\"}", "{\"h\":\"x-api-key:***\"}"},
    {"assay load u --header 'X-Mine: abc def' --json",
     "assay load u --header 'X-Mine: ***' --json"},
    {"assay load u --header X-Mine:abc --json", "assay load u --header X-Mine:*** --json"},
    {"assay load u --header-file a:b", NULL},
    {"https://me:***@host --token ***", NULL},
    {"assay serve --token-file secret", NULL},
    {"assay pipeline x --tokens 128", NULL},
    {"{\"prompt_tokens\":77,\"token\":\"x\"}", NULL},
    {"a token is text", NULL},
    {"forbearer x", NULL},
    {"--token", NULL},
    {"--token ", NULL},
    {"http://", NULL},
    {"http://@", NULL},
    {"", NULL},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sbuf b = {0};
        redact_put(&b, str_of(rows[i].text));
        assert_string_equal(sbuf_cstr(&b), rows[i].kept ? rows[i].kept : rows[i].text);
        sbuf_free(&b);
    }
}

int run_test_redact(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
