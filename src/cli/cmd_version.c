/* assay version, and the licences of the program's components. */
#include <string.h>

#include "cli/cli.h"

static const char terms[] =
    "Permission is hereby granted, free of charge, to any person obtaining a copy\n"
    "of this software and associated documentation files (the \"Software\"), to deal\n"
    "in the Software without restriction, including without limitation the rights\n"
    "to use, copy, modify, merge, publish, distribute, sublicense, and/or sell\n"
    "copies of the Software, and to permit persons to whom the Software is\n"
    "furnished to do so, subject to the following conditions:\n"
    "\n"
    "The above copyright notice and this permission notice shall be included in all\n"
    "copies or substantial portions of the Software.\n"
    "\n"
    "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR\n"
    "IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,\n"
    "FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE\n"
    "AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER\n"
    "LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,\n"
    "OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE\n"
    "SOFTWARE.\n";

/* What is linked into the program, by its name in the list of components. Terms in our words where the licence does not
 * ask for its own; all of them allow use, change and distribution in binary form. */
static const struct {
    const char *name, *notice;
} linked[] = {
    {"sqlite", "SQLite is in the public domain.\n"},
    {"zlib",
     "zlib, Copyright (C) 1995-2022 Jean-loup Gailly and Mark Adler, under the zlib licence.\n"},
    {"libpng",
     "libpng, Copyright (c) 1995-2022 The PNG Reference Library Authors, Copyright (c) 2018-2022\n"
     "Cosmin Truta, Copyright (c) 1998-2018 Glenn Randers-Pehrson, Copyright (c) 1996-1997\n"
     "Andreas Dilger, Copyright (c) 1995-1996 Guy Eric Schalnat, Group 42, Inc., under the PNG\n"
     "Reference Library License version 2.\n"},
    {"libjpeg-turbo",
     "libjpeg-turbo. This software is based in part on the work of the Independent JPEG Group.\n"
     "Copyright (C) 1991-2020 Thomas G. Lane, Guido Vollbeding. Copyright (C) 2009-2023\n"
     "D. R. Commander. Copyright (C) 2015 Viktor Szathmary. All rights reserved.\n"
     "\n"
     "Redistribution and use in source and binary forms, with or without\n"
     "modification, are permitted provided that the following conditions are met:\n"
     "\n"
     "- Redistributions of source code must retain the above copyright notice,\n"
     "  this list of conditions and the following disclaimer.\n"
     "- Redistributions in binary form must reproduce the above copyright notice,\n"
     "  this list of conditions and the following disclaimer in the documentation\n"
     "  and/or other materials provided with the distribution.\n"
     "- Neither the name of the libjpeg-turbo Project nor the names of its\n"
     "  contributors may be used to endorse or promote products derived from this\n"
     "  software without specific prior written permission.\n"
     "\n"
     "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\",\n"
     "AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE\n"
     "IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE\n"
     "ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS OR CONTRIBUTORS BE\n"
     "LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR\n"
     "CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF\n"
     "SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS\n"
     "INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN\n"
     "CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE)\n"
     "ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE\n"
     "POSSIBILITY OF SUCH DAMAGE.\n"},
};

/* Of what this build links. */
static void print_linked(void)
{
    char row[64];
    puts("The program contains:\n");
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        snprintf(row, sizeof row, "\"name\": \"%s\"", linked[i].name);
        if (strstr(assay_sbom(), row))
            puts(linked[i].notice);
    }
}

static int run_version(cli_args *args)
{
    if (args->sbom && args->licenses)
        return cli_complain_text(ASSAY_ERR_USAGE, "--sbom and --licenses cannot be combined");
    if (args->sbom) {
        fputs(assay_sbom(), stdout);
        return cli_flush();
    }
    if (!args->licenses) {
        printf("assay %s\n", assay_version());
        return cli_flush();
    }
    printf("MIT License\n\nCopyright (c) 2026 The assay authors\n\n%s\n", terms);
    print_linked();
    if (*assay_page_licenses())
        printf("The page of HTML reports holds:\n\n%s\n", assay_page_licenses());
    puts("The C library is loaded from the system.");
    return cli_flush();
}

const cli_command command_version = {CLI_COMMAND("version", "", 0, 0, run_version), .classes = "",
                                     .about = "Print the version."};
