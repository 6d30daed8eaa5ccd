/* Writes the seeds of the ONNX fuzz targets into a folder: one small model per feature of the
 * reader. Built and run by hand when a feature is added:
 *
 *     cc -I tests -o make_corpus tests/fuzz/make_corpus.c
 *     ./make_corpus tests/fuzz/corpus/fuzz_onnx_read
 */
#include <stdio.h>

#include "support/onnx_writer.h"

static const int64_t two[] = {2};

static ww graph(void)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node("Relu", "relu", NAMES("x"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", 1, 1, two));
    ww_sub(&g, 12, ow_info("y", 1, -1, NULL));
    return g;
}

static ww plain(void)
{
    return ow_model(graph());
}

static ww tensors(void)
{
    ww g = graph(), t = ow_tensor("t", 7, 1, two), e = ow_tensor("e", 1, 1, two), s = {0};
    ww text = ow_tensor("s", 8, 1, two);
    ww_packed(&t, 7, (int64_t[]){1, -2}, 2);
    ww_sub(&e, 13, ow_external("location", "w.bin"));
    ww_sub(&e, 13, ow_external("offset", "4096"));
    ww_int(&e, 14, 1);
    ww_str(&text, 6, "ab");
    ww_str(&text, 6, "c");
    ww_sub(&g, 5, t);
    ww_sub(&g, 5, e);
    ww_sub(&g, 5, text);
    ww_sub(&g, 5, ow_raw("r", 1, 1, two, "abcdefgh", 8));
    ww_sub(&g, 5, ow_raw("q", 22, 1, two, "a", 1));
    t = ow_tensor("", 7, 1, two);
    ww_packed(&t, 7, (int64_t[]){0, 3}, 2);
    ww_sub(&s, 1, ow_raw("sp", 1, 1, two, "abcdefgh", 8));
    ww_sub(&s, 2, t);
    ww_int(&s, 3, 9);
    ww_sub(&g, 15, s);
    return ow_model(g);
}

static ww branch(const char *op, const char *in, const char *out)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node(op, "", NAMES(in), NAMES(out)));
    ww_sub(&g, 12, ow_value(out));
    return g;
}

static ww if_node(const char *in, const char *out)
{
    ww n = ow_node("If", "", NAMES(in), NAMES(out));
    n = ow_with(n, ow_attr_graph("then_branch", branch("Neg", in, "p")));
    return ow_with(n, ow_attr_graph("else_branch", branch("Abs", in, "q")));
}

static ww subgraphs(void)
{
    ww g = graph();
    ww_sub(&g, 1, if_node("late", "z"));
    ww_sub(&g, 1, ow_node("Exp", "", NAMES("x"), NAMES("late")));
    return ow_model(g);
}

static ww functions(void)
{
    ww g = graph(), f = ow_function("my", "F", NAMES("a", "b"), NAMES("c", "a"));
    ww h = ow_function("my", "H", NAMES("a"), NAMES("b"));
    ww call = ow_with(ow_node("F", "call", NAMES("x"), NAMES("u", "v")), ow_attr_int("alpha", 3));
    ww inner = ow_node("H", "h", NAMES("a"), NAMES("m"));
    ww_str(&call, 7, "my");
    ww_str(&inner, 7, "my");
    ww_sub(&g, 1, call);
    ww_sub(&f, 7, inner);
    ww_sub(&f, 7,
           ow_with(ow_node("Elu", "", NAMES("m"), NAMES("n")), ow_attr_ref("alpha", 2, "alpha")));
    ww_sub(&f, 7, if_node("n", "c"));
    ww_str(&f, 6, "alpha");
    ww_sub(&h, 7, ow_node("Neg", "", NAMES("a"), NAMES("b")));
    ww m = ow_model(g);
    ww_sub(&m, 8, ow_opset("my", 1));
    ww_sub(&m, 25, f);
    ww_sub(&m, 25, h);
    return m;
}

static ww attributes(void)
{
    ww g = graph(), n = ow_node("Odd", "odd", NAMES("x", ""), NAMES("", "o"));
    ww f = ow_attr("f", 1), s = ow_attr("s", 3), fs = ow_attr("fs", 6), is = ow_attr("is", 7);
    ww ss = ow_attr("ss", 8), t = ow_attr("t", 4), tp = ow_attr("tp", 13);
    ww_float(&f, 2, 0.5f);
    ww_str(&s, 4, "text");
    ww_float(&fs, 7, 1.0f);
    ww_packed(&is, 8, (int64_t[]){1, 2, -3}, 3);
    ww_str(&ss, 9, "a");
    ww_sub(&t, 5, ow_raw("", 1, 1, two, "abcdefgh", 8));
    ww_sub(&tp, 14, ow_tensor_type(1, 1, two));
    n = ow_with(ow_with(ow_with(ow_with(n, f), s), fs), is);
    n = ow_with(ow_with(ow_with(n, ss), t), tp);
    ww_sub(&g, 1, n);
    ww_sub(&g, 1,
           ow_with(ow_node("Constant", "", NO_NAMES, NAMES("k")), ow_attr_int("value_int", 4)));
    return ow_model(g);
}

static const struct {
    const char *name;
    ww (*make)(void);
} seeds[] = {
    {"plain", plain},         {"tensors", tensors},       {"subgraphs", subgraphs},
    {"functions", functions}, {"attributes", attributes},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof seeds / sizeof *seeds; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.onnx", argv[1], seeds[i].name);
        ww m = seeds[i].make();
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(m.p, 1, m.n, f) != m.n || fclose(f) != 0) {
            perror(path);
            return 1;
        }
        ww_free(&m);
    }
    return argc == 2 ? 0 : 2;
}
