/* Explains the difference between the planned and the measured peak of activations, step by step. */
#ifndef PROFILE_PLAN_LEDGER_H
#define PROFILE_PLAN_LEDGER_H

#include "profile/measured.h"

/* Rows add up: total is that of the row before plus bytes; "measured" adds nothing and its total is measured_peak.
 * Causes that an older result does not tell, and a workspace that the engine did not, have no row; the step is then
 * part of the next one that is told. Returns how many rows there are. */
uint32_t plan_ledger(const profile_plan_check *k, plan_ledger_row rows[PLAN_LEDGER_MAX]);

#endif
