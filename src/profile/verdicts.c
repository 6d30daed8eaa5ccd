/* Names of verdicts. */
#include "profile/verdicts.h"

const char *verdict_name(verdict_kind v)
{
    static const char *const names[] = {[VERDICT_PASS] = "pass",
                                        [VERDICT_IMPROVEMENT] = "improvement",
                                        [VERDICT_SHOWN] = "not judged",
                                        [VERDICT_INCONCLUSIVE] = "inconclusive",
                                        [VERDICT_REGRESSION] = "regression",
                                        [VERDICT_MISSED] = "missed"};
    return names[v];
}
