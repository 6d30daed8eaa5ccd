/* See counter.h. */
#include "measure/counter.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/stats.h"

static int open_kernel(void)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_HARDWARE;
    a.config = PERF_COUNT_HW_INSTRUCTIONS;
    a.exclude_kernel = 1;
    a.exclude_hv = 1;
    a.inherit = 1;
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void counter_open(counter *c, const counter_source *source)
{
    *c = (counter){.source = source, .fd = -1};
    if (source) {
        c->open = source->open(source->ctx);
        return;
    }
    c->fd = open_kernel();
    c->open = c->fd >= 0;
}

bool counter_read(const counter *c, uint64_t *out)
{
    if (!c || !c->open)
        return false;
    if (c->source)
        return c->source->read(c->source->ctx, out);
    return read(c->fd, out, sizeof *out) == (ssize_t)sizeof *out;
}

void counter_close(counter *c)
{
    if (c->open && c->source)
        c->source->close(c->source->ctx);
    else if (c->open)
        close(c->fd);
    c->open = false;
}

counter_summary counter_describe(double *counts, uint32_t n)
{
    if (!n)
        return (counter_summary){0};
    stats_sort(counts, n);
    return (counter_summary){
        .median = stats_quantile(counts, n, 0.5), .fewest = counts[0], .most = counts[n - 1]};
}
