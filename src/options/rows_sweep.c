/* Options of sweeps that no single measurement has. */
#include "options/rows.h"

static const option_row rows[] = {
    {OPTION("sweep-name", WORD, sweep.name, "sweep"), .value = "NAME",
     .about = "Set the first part of the sweep's name; the rest is its digest. Default: sweep."},
    {OPTION("precisions", WORD, sweep.precisions, "sweep"), .value = "fp32,fp16",
     .about = "Measure these precisions. Default: fp32."},
    {OPTION("node-class", WORD, sweep.node_classes, "sweep"), .value = "NAME,...",
     .about = "Measure on these classes of nodes: a constraint of Slurm, or the label "
              "assay/node-class of Kubernetes. Default: any node."},
    {OPTION("repeat", INT, sweep.repeat, "sweep"), .value = "N", .min = 1, .max = 1000,
     .initial = 1, .about = "Make this many tasks of every configuration."},
};
OPTION_TOPIC(options_sweep, "Sweep", rows);
