/* What is looked at when a model is scaled. */
#include "profile/scaling.h"

const scaling_metric scaling_metrics[SCALING_METRICS] = {
    [SCALING_MACS] = {"macs", "MACs", "mac", false},
    [SCALING_FLOPS] = {"flops", "FLOPs", "flop", false},
    [SCALING_TRAFFIC] = {"traffic_bytes", "traffic", "traffic bytes", true},
    [SCALING_PARAMETERS] = {"parameters", "parameters", "params", false},
    [SCALING_ACTIVATIONS] = {"activations_peak_bytes", "activations", "activations activation",
                             true},
    [SCALING_PEAK] = {"peak_bytes", "peak memory", "memory peak", true},
    [SCALING_TRAINING] = {"training_bytes", "training", "training", true},
};
