/* Options of the views of a result. */
#include "options/rows.h"
#include "report/report.h"

static const option_row rows[] = {
    {OPTION("top", INT, view.top, "graph profile layers memory compare report map fuse history"),
     .value = "N", .min = 0, .max = 1000000, .initial = REPORT_TOP,
     .about = "Show this many of the most expensive layers."},
    {OPTION("depth", INT, view.depth, "graph layers report history"), .value = "N", .min = 0,
     .max = 64, .about = "Show the module tree down to this depth."},
    {OPTION("verbose", FLAG, view.verbose,
            "graph profile bench layers memory compare report map fuse history trend"),
     .letter = 'v', .about = "Show all rows on the console; add the shape of every value to JSON."},
    {OPTION("columns", INT, view.columns, "@screen"), .value = "N", .min = 40, .max = 1000,
     .about = "Set the width of the console. Default: that of the terminal, else 80."},
    {OPTION("ascii", FLAG, view.ascii, "@screen"), .about = "Use ASCII characters only."},
    {OPTION("view", WORD, view.part, "report"), .closed = true, .value = "NAME",
     .values = "all|profile|bench|layers|memory|map|fuse|watch",
     .about = "Show this part of a result. Default: that of the command that produced it."},
    {OPTION("rows", WORD, view.rows, "profile bench layers memory compare report fuse load sweep"),
     .closed = true, .value = "NAME",
     .values = "layers|runs|batches|groups|events|timeline|snapshots|slots|curve|cdf|summary|"
               "tasks|cells|best|machines",
     .formats = "csv",
     .about = "Select the rows of CSV: layers, runs, batches, groups; of the memory plan: events, "
              "timeline, snapshots, slots, curve; of a load: summary, curve, timeline, cdf."},
    {OPTION("no-graphs", FLAG, view.no_graphs, "@page"), .formats = "html",
     .about = "Write HTML without charts."},
    {OPTION("no-details", FLAG, view.no_details, "@page"), .formats = "html",
     .about = "Write HTML without long tables."},
};
OPTION_TOPIC(options_view, "View", rows);
