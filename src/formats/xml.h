/* A small pull reader for XML (https://www.w3.org/TR/xml): elements, attributes, text, the five named entities and
 * character references, comments, CDATA and processing instructions. UTF-8 only. Namespaces are part of the names.
 *
 * It reads no document type: a file with one is refused (ASSAY_ERR_UNSUPPORTED), so entities of a file cannot grow.
 * Elements may be nested XML_MAX_DEPTH deep and have XML_MAX_ATTRS attributes; a text, a name or a value may be
 * XML_MAX_TEXT long.
 *
 *   xml x; xml_begin(&x, src, scratch, err);
 *   while (xml_next(&x)) switch (x.event) ...
 *
 * Strings of an event are valid until the next one.
 */
#ifndef FORMATS_XML_H
#define FORMATS_XML_H

#include "base/source.h"
#include "base/vec.h"

enum { XML_MAX_DEPTH = 128, XML_MAX_ATTRS = 128, XML_MAX_TEXT = 1 << 22 };

typedef enum xml_event { XML_NOTHING, XML_OPEN, XML_CLOSE, XML_TEXT } xml_event;

typedef struct xml_attr {
    str name, value;
} xml_attr;

typedef struct xml_range {
    uint32_t at, n;
} xml_range;

typedef struct xml {
    cursor c;
    arena *scratch;
    int ahead; /* the next byte; -1 at the end */
    xml_event event;
    str name; /* XML_OPEN, XML_CLOSE */
    xml_attr attrs[XML_MAX_ATTRS];
    uint32_t n_attrs;
    str text; /* XML_TEXT: never only blanks */
    uint32_t depth;
    bool closing; /* <x/> was opened and is closed by the next event */
    bool rooted;  /* a root element was there */
    VEC(char) buffer;
    VEC(char) names; /* of the open elements, one after the other */
    uint32_t starts[XML_MAX_DEPTH];
    xml_range ranges[XML_MAX_ATTRS][2]; /* of names and values in the buffer */
} xml;

void xml_begin(xml *x, source *src, arena *scratch, assay_error *err);
/* The next event; false at the end of the file and after a failure (xml_status() tells). */
bool xml_next(xml *x);
assay_status xml_status(const xml *x);
/* After XML_OPEN: moves past the end of that element. */
void xml_skip(xml *x);
/* An attribute of the element that was opened; empty when it has none. */
str xml_attr_of(const xml *x, const char *name);
/* Marks the file as malformed here. */
void xml_fail(xml *x, const char *what);

#endif
