/* A stream that shows text on the console as the options ask: without characters outside ASCII (--ascii), and
 * with lines that begin in the first column, which are headings, in bold (--color). */
#ifndef CLI_STAGE_STREAM_H
#define CLI_STAGE_STREAM_H

#include <stdbool.h>
#include <stdio.h>

typedef struct stage_stream {
    FILE *to; /* borrowed */
    bool ascii, color;
    bool inside; /* of a line */
    bool bold;
} stage_stream;

/* A stream that writes to s->to; s lives as long. Close it with fclose(). NULL when memory is out. */
FILE *stage_stream_open(stage_stream *s);

#endif
