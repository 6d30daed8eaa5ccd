/* What other files of this room need of the measured machine. */
#ifndef API_MACHINE_H
#define API_MACHINE_H

#include "api/api.h"
#include "device/machine.h"

struct assay_machine {
    arena *arena;
    machine *m;
};

#endif
