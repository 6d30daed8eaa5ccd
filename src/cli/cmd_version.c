/* assay version, and the licences of the program's components. */
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

static int run_version(cli_args *args)
{
    if (!args->licenses) {
        printf("assay %s\n", assay_version());
        return cli_flush();
    }
    printf("MIT License\n\nCopyright (c) 2026 The assay authors\n\n%s\n", terms);
    if (*assay_page_licenses())
        printf("The page of HTML reports holds:\n\n%s\n", assay_page_licenses());
    puts("The C library is loaded from the system.");
    return cli_flush();
}

const cli_command command_version = {CLI_COMMAND("version", "", 0, 0, run_version), .classes = "",
                                     .about = "Print the version."};
