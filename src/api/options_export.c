/* Options of written models, and those that only callers of the library set. */
#include "api/api.h"

static const option_row rows[] = {
    {.name = "opset",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Write this operator set. Default: that of the file, 17 for built-in models.",
     .commands = "export",
     .at = OPTION_FIELD(export.opset),
     .min = 11,
     .max = 24},
    {.name = "external-data",
     .kind = OPTION_FLAG,
     .about = "Write weights to a second file beside the model; always done above 2 GB.",
     .commands = "export",
     .at = OPTION_FIELD(export.external_data)},
    {.name = "holes",
     .kind = OPTION_FLAG,
     .about = "Write random weights as holes of a second file: zeros that use no disk space.",
     .commands = "export",
     .at = OPTION_FIELD(export.holes)},
};
OPTION_TOPIC(options_export, "Export", rows);

static const option_row caller[] = {
    {.name = "command",
     .kind = OPTION_WORD,
     .value = "TEXT",
     .about = "Record this command line in the context of the result.",
     .at = OPTION_FIELD(command)},
    {.name = "color",
     .kind = OPTION_FLAG,
     .about = "Use colours on the console.",
     .at = OPTION_FIELD(view.color)},
    {.name = "dims-may-miss",
     .kind = OPTION_FLAG,
     .about = "Warn about a dimension that the model lacks instead of failing.",
     .at = OPTION_FIELD(model.dims_may_miss)},
};
OPTION_TOPIC(options_caller, "Library calls", caller);
