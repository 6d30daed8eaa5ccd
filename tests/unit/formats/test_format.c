/* What a file is: by its content whatever it is called, then by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <assay/assay.h>
#include <unistd.h>

#include "formats/format.h"
#include "support/folder.h"
#include "support/foreign.h"
#include "support/weights_writer.h"

static const char *path_of(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    return path;
}

static void put_file(const char *name, const void *bytes, size_t n)
{
    wf f = {0};
    wf_put(&f, bytes, n);
    assert_int_equal(wf_save(&f, path_of(name)), 0);
    wf_free(&f);
}

/* The status of opening such a file; the file is gone afterwards. */
static assay_status open_as(const char *name, const void *bytes, size_t n, assay_error *err)
{
    assay_model *m = NULL;
    put_file(name, bytes, n);
    assay_status s = assay_model_open(path_of(name), &m, err);
    assay_model_free(m);
    unlink(path_of(name));
    return s;
}

/* y[2,4] = MatMul(a[2,3], b[3,4]) */
static const unsigned char product[] = {
    0x08, 0x07, 0x3a, 0x55, 0x0a, 0x11, 0x0a, 0x01, 0x61, 0x0a, 0x01, 0x62, 0x12, 0x01, 0x79, 0x22,
    0x06, 0x4d, 0x61, 0x74, 0x4d, 0x75, 0x6c, 0x12, 0x01, 0x67, 0x5a, 0x13, 0x0a, 0x01, 0x61, 0x12,
    0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x5a,
    0x13, 0x0a, 0x01, 0x62, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x03,
    0x0a, 0x02, 0x08, 0x04, 0x62, 0x13, 0x0a, 0x01, 0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12,
    0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x04, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d,
};

static void reads_onnx_of_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"x.onnx", "x.model", "x.pb", "x.bin", "x.gguf", "x.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assay_error err = {0};
        if (open_as(names[i], product, sizeof product, &err) != ASSAY_OK)
            fail_msg("%s: %s", names[i], err.message);
    }
}

static void reads_weights_of_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"x.bin", "x.onnx", "x.model", "plain"};
    wf gguf = {0}, tensors = st_file("{\"w\":{\"dtype\":\"F32\",\"shape\":[4],"
                                     "\"data_offsets\":[0,16]}}",
                                     16);
    gg_head(&gguf, 3, 1, 1);
    gg_str(&gguf, "general.architecture", "unheard-of");
    gg_info(&gguf, "t", (const uint64_t[]){16}, 1, 0, 0);
    gg_data(&gguf, 32, 64);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assay_error err = {0};
        if (open_as(names[i], gguf.p, gguf.n, &err) != ASSAY_OK)
            fail_msg("GGUF as %s: %s", names[i], err.message);
        if (open_as(names[i], tensors.p, tensors.n, &err) != ASSAY_OK)
            fail_msg("safetensors as %s: %s", names[i], err.message);
    }
    wf_free(&gguf);
    wf_free(&tensors);
}

static void refuses_by_content(void **state)
{
    (void)state;
#define ROW(kind, bytes)               \
    {                                  \
        kind, bytes, sizeof(bytes) - 1 \
    }
    static const struct {
        const char *kind, *bytes;
        size_t n;
    } rows[] = {
        ROW("png", "\x89PNG\r\n\x1a\n0000"),
        ROW("jpeg", "\xff\xd8\xff\xe0 JFIF"),
        ROW("zip", "PK\3\4\24\0\0\0\0\0readme.txt"),
        ROW("npz", "PK\3\4\24\0\0\0\0\0x.npy"),
        ROW("torchserve", "PK\3\4\24\0\0\0\0\0MAR-INF/MANIFEST.json"),
        ROW("catboost", "CBM1\0\0"),
        ROW("xgboost", "{\"learner\":{\"attributes\":{}}}"),
        ROW("xgboost", "{L\0\0\0\0\0\0\0\7learner{"),
        ROW("xgboost", "binf\0\0\0?"),
        ROW("lightgbm", "tree\nversion=v4\n"),
        ROW("scikit-learn", "\x80\2csklearn.svm._classes\nSVC\n"),
        ROW("scikit-learn", "\x80\4\x95\0\0\0\0\0\0\0\0\x8c\x14sklearn.svm._classes"),
        ROW("xgboost", "\x80\4\x95\0\0\0\0\0\0\0\0\x8c\x0fxgboost.sklearn"),
        ROW("lightgbm", "\x80\4\x95\0\0\0\0\0\0\0\0\x8c\x10lightgbm.sklearn"),
        ROW("gzip", "\x1f\x8b\x08\0\0\0\0\0"),
        ROW("pickle", "\x80\2}q\0."),
        ROW("pickle", "\x80\4\x95\0\0\0\0\0\0\0\0"),
        ROW("ort", "\x1c\0\0\0ORTM\0\0"),
        ROW("gif", "GIF89a\1\0"),
        ROW("tiff", "II*\0\x08\0\0\0"),
        ROW("webp", "RIFF0000WEBPVP8 "),
        ROW("wav", "RIFF0000WAVEfmt "),
        ROW("mp4", "\0\0\0\x18"
                   "ftypmp42"),
        ROW("numpy", "\x93NUMPY\1\0"),
        ROW("sqlite", "SQLite format 3\0"),
        ROW("executorch", "\x1c\0\0\0ET12"),
        ROW("circle", "\x1c\0\0\0CIR0"),
        ROW("pe", "MZ\x90\0"),
        ROW("mach-o", "\xcf\xfa\xed\xfe"),
        ROW("script", "#!/bin/sh\n"),
        ROW("bzip2", "BZh91AY"),
        ROW("xz", "\xfd"
                  "7zXZ\0"),
        ROW("zstd", "\x28\xb5\x2f\xfd\4"),
        ROW("7z", "7z\xbc\xaf\x27\x1c"),
        ROW("elf", "\x7f"
                   "ELF\2\1\1"),
        ROW("pdf", "%PDF-1.7\n"),
        ROW("git-lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        ROW("web", "<!DOCTYPE html><html></html>"),
    };
#undef ROW
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_error err = {0};
        const format_row *f = format_by_content(rows[i].bytes, rows[i].n, rows[i].n);
        assert_non_null(f);
        assert_string_equal(f->name, rows[i].kind);
        assert_int_equal(open_as("x.onnx", rows[i].bytes, rows[i].n, &err), ASSAY_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, f->what));
        assert_non_null(strstr(err.message, f->todo));
    }
}

static void tells_tar(void **state)
{
    char head[512] = "model.onnx";
    (void)state;
    memcpy(head + 257, "ustar", 5);
    assert_string_equal(format_by_content(head, sizeof head, sizeof head)->name, "tar");
}

/* A container says less than the suffix of one of its formats. */
static void asks_the_suffix(void **state)
{
    (void)state;
    put_file("x.keras", "PK\3\4abcdef", 10);
    assert_string_equal(format_found(path_of("x.keras"))->name, "keras");
    unlink(path_of("x.keras"));
    put_file("x.pdmodel", "whatever", 8);
    assert_string_equal(format_found(path_of("x.pdmodel"))->name, "paddle");
    unlink(path_of("x.pdmodel"));
    put_file("x.dlc", "PK\3\4model.params", 16); /* a zip archive */
    assert_string_equal(format_found(path_of("x.dlc"))->name, "qualcomm");
    unlink(path_of("x.dlc"));
    put_file("x.none", "whatever", 8);
    assert_null(format_found(path_of("x.none")));
    unlink(path_of("x.none"));
    assert_string_equal(format_found("/no/such/file.gguf")->name, "gguf");
}

/* A Core ML model begins like an ONNX model, but its second field is a message. */
static void tells_other_messages(void **state)
{
    (void)state;
    static const char coreml[] = "\x08\x04\x12\x08\x0a\x06\x0a\x01x\x1a\x01\x2a\x52\x00";
    static const char graph_def[] = "\x0a\x08\x0a\x01x\x12\x03\x41\x64\x64";
    assert_string_equal(format_by_content(coreml, sizeof coreml - 1, sizeof coreml - 1)->name,
                        "coreml");
    assert_string_equal(
        format_by_content(graph_def, sizeof graph_def - 1, sizeof graph_def - 1)->name,
        "tensorflow");
    for (size_t n = 0; n <= sizeof product; n++) /* cut anywhere */
        format_by_content(product, n, sizeof product);
}

int run_test_format(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_onnx_of_any_name), cmocka_unit_test(reads_weights_of_any_name),
        cmocka_unit_test(refuses_by_content),     cmocka_unit_test(tells_tar),
        cmocka_unit_test(asks_the_suffix),        cmocka_unit_test(tells_other_messages),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
