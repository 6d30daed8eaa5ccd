/* What a TFLite file says about itself: its signatures, and the metadata of TensorFlow Lite's metadata library, a
 * FlatBuffer of its own ("M001") in the buffer that is called TFLITE_METADATA:
 *
 *   ModelMetadata    name, description, version, subgraphs, author, license, files
 *   SubGraphMetadata name, description, inputs, outputs, files
 *   TensorMetadata   name, description, names of dimensions, content, process units, statistics, files
 *   ProcessUnit      the kind of its options and the options; kind 1 is a normalisation: mean, std
 *   AssociatedFile   name, description, kind; the files themselves are in a zip archive behind the model
 *
 * Metadata that is damaged does not make the model unreadable: it is noted. */
#include "base/sbuf.h"
#include "formats/tflite/tflite_impl.h"

enum { PROPERTIES_MOST = 256, ITEMS_MOST = 64, TEXT_MOST = 4096 };
enum { A_NAME, A_ABOUT, A_VERSION, A_SUBGRAPHS, A_AUTHOR, A_LICENSE, A_FILES };
enum { T_NAME, T_ABOUT, T_DIMENSIONS, T_CONTENT, T_UNITS, T_STATS, T_FILES };
enum { G_INPUTS, G_OUTPUTS, G_KEY, G_SUBGRAPH = 4 };
enum { UNIT_NORMALISATION = 1 };

typedef struct teller {
    tfl_reader *r;
    flat *flat;
    VEC(ir_property) list;
} teller;

static void tell(teller *t, str key, str value)
{
    arena *a = t->r->f.m->arena;
    ir_property *p = value.n && t->list.n < PROPERTIES_MOST ? VEC_PUSH(a, &t->list) : NULL;
    if (p)
        *p = (ir_property){key, str_copy(a, value)};
}

static str text_of(teller *t, flat_table table, unsigned id)
{
    return flat_text(t->flat, table, id, t->r->f.scratch, TEXT_MOST);
}

static uint32_t at_most(flat_vector v)
{
    return v.n < ITEMS_MOST ? v.n : ITEMS_MOST;
}

/* ---- tensors ---- */

static void put_floats(teller *t, sbuf *b, const char *what, flat_table options, unsigned id)
{
    flat_vector v = flat_list(t->flat, options, id, 4);
    for (uint32_t i = 0; i < at_most(v) && !t->flat->failed; i++) {
        uint32_t bits = (uint32_t)flat_bytes(t->flat, v.at + 4 * (uint64_t)i, 4);
        float f;
        memcpy(&f, &bits, sizeof f);
        sbuf_printf(b, "%s %g", i ? "" : what, (double)f);
    }
}

static void put_normalisation(teller *t, sbuf *b, flat_table tensor)
{
    flat_vector units = flat_list(t->flat, tensor, T_UNITS, 4);
    for (uint32_t i = 0; i < at_most(units) && !t->flat->failed; i++) {
        flat_table unit = flat_table_at(t->flat, units, i);
        if (flat_u8(t->flat, unit, 0, 0) != UNIT_NORMALISATION)
            continue;
        put_floats(t, b, "; mean", flat_sub(t->flat, unit, 1), 0);
        put_floats(t, b, "; deviation", flat_sub(t->flat, unit, 1), 1);
    }
}

static void put_files(teller *t, sbuf *b, flat_table of, unsigned id)
{
    flat_vector files = flat_list(t->flat, of, id, 4);
    for (uint32_t i = 0; i < at_most(files) && !t->flat->failed; i++) {
        str name = text_of(t, flat_table_at(t->flat, files, i), 0);
        if (name.n)
            sbuf_printf(b, b->n ? "; file " STR_FMT : "file " STR_FMT, STR_ARG(name));
    }
}

/* "image: Input image to be classified.; mean 127.5; deviation 127.5; file labels.txt" */
static void tell_tensors(teller *t, const char *what, flat_vector list)
{
    for (uint32_t i = 0; i < at_most(list) && !t->flat->failed; i++) {
        flat_table tensor = flat_table_at(t->flat, list, i);
        str name = text_of(t, tensor, T_NAME), about = text_of(t, tensor, T_ABOUT);
        sbuf b = {0};
        sbuf_printf(&b, STR_FMT "%s" STR_FMT, STR_ARG(name), name.n && about.n ? ": " : "",
                    STR_ARG(about));
        put_normalisation(t, &b, tensor);
        put_files(t, &b, tensor, T_FILES);
        tell(t, str_printf(t->r->f.m->arena, "%s %u", what, i), (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

/* ---- the model ---- */

static void tell_model(teller *t, flat_table m)
{
    static const struct {
        const char *key;
        unsigned id;
    } texts[] = {{"name", A_NAME},
                 {"description", A_ABOUT},
                 {"version", A_VERSION},
                 {"author", A_AUTHOR},
                 {"license", A_LICENSE}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tell(t, str_of(texts[i].key), text_of(t, m, texts[i].id));
    flat_vector subgraphs = flat_list(t->flat, m, A_SUBGRAPHS, 4);
    flat_table first = subgraphs.n ? flat_table_at(t->flat, subgraphs, 0) : (flat_table){0};
    tell_tensors(t, "input", flat_list(t->flat, first, 2, 4));
    tell_tensors(t, "output", flat_list(t->flat, first, 3, 4));
    sbuf b = {0};
    put_files(t, &b, m, A_FILES);
    put_files(t, &b, first, 4);
    tell(t, STR("files"), (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

/* The FlatBuffer within buffer `at`. */
static void read_nested(teller *t, uint64_t at)
{
    assay_error err = {0};
    flat *own = flat_new(t->r->f.src, &err), *outer = t->flat;
    flat_table buffer = at < t->r->buffers.n ? flat_table_at(outer, t->r->buffers, (uint32_t)at)
                                             : (flat_table){0};
    flat_vector data = flat_list(outer, buffer, 0, 1);
    if (own && data.n >= 8 && !outer->failed) {
        t->flat = own;
        tell_model(t, flat_root_at(own, data.at));
        t->flat = outer;
        if (own->failed)
            notes_add(&t->r->f.m->notes, "metadata", STR("TFLITE_METADATA"), NULL,
                      "The metadata of the file cannot be read.");
    }
    flat_free(own);
}

/* ---- signatures ---- */

static void put_names(teller *t, sbuf *b, const char *what, flat_vector list)
{
    for (uint32_t i = 0; i < at_most(list) && !t->flat->failed; i++) {
        str name = text_of(t, flat_table_at(t->flat, list, i), 0);
        sbuf_printf(b, "%s" STR_FMT, i ? ", " : what, STR_ARG(name));
    }
}

static void tell_signature(teller *t, flat_table s)
{
    sbuf b = {0};
    str key = text_of(t, s, G_KEY);
    sbuf_printf(&b, "subgraph %u", (unsigned)flat_u32(t->flat, s, G_SUBGRAPH, 0));
    put_names(t, &b, "; inputs ", flat_list(t->flat, s, G_INPUTS, 4));
    put_names(t, &b, "; outputs ", flat_list(t->flat, s, G_OUTPUTS, 4));
    if (key.n)
        tell(t, str_printf(t->r->f.m->arena, "signature " STR_FMT, STR_ARG(key)),
             (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

void tfl_tell_metadata(tfl_reader *r, flat_vector metadata, flat_vector signatures)
{
    teller t = {.r = r, .flat = r->flat};
    for (uint32_t i = 0; i < at_most(metadata) && !r->flat->failed; i++) {
        flat_table m = flat_table_at(r->flat, metadata, i);
        if (str_is(text_of(&t, m, 0), "TFLITE_METADATA"))
            read_nested(&t, flat_u32(r->flat, m, 1, UINT32_MAX));
    }
    for (uint32_t i = 0; i < at_most(signatures) && !r->flat->failed; i++)
        tell_signature(&t, flat_table_at(r->flat, signatures, i));
    r->f.m->properties = t.list.items;
    r->f.m->n_properties = t.list.n;
}
