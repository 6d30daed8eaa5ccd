/* View of a watched process: totals, and memory and CPU over time. */
#include "report/views_profile.h"

static const view_fact_row watch_facts[] = {
    VIEW_FACT("Process", "{watch.pid:text}",
              "processes at most {watch.peak_processes:whole}, threads at most "
              "{watch.peak_threads:whole}",
              "+watch.peak_processes"),
    VIEW_FACT("Process", "{watch.pid:text}", "ended before the first sample",
              "watch.peak_processes=0"),
    VIEW_FACT("Time", "{watch.wall_s:fixed2} s",
              "{watch.cpu_s:fixed2} s of processor: {watch.cpu_percent:percent0}|"
              "{watch.cpu_s:fixed2} s of processor: too short to tell its share",
              NULL),
    VIEW_FACT("Peak memory", "{watch.peak_resident:bytes}",
              "average {watch.average_resident:bytes}", NULL),
    VIEW_FACT("Disk", "{watch.read_bytes:bytes}", "read, {watch.written_bytes:bytes} written",
              "watch.read_bytes"),
    VIEW_FACT("Disk", "–", "not reported: another user's process", "!watch.read_bytes"),
    VIEW_FACT("Page faults", "{watch.minor_faults:whole}",
              "and {watch.major_faults:whole} from disk", NULL),
    VIEW_FACT("Switches", "{watch.voluntary_switches:whole}",
              "and {watch.involuntary_switches:whole} forced", NULL),
};
static const view_spark_row watch_sparks[] = {
    {"memory", "watch.samples", "resident"},
    {"processor", "watch.samples", "cpu_percent"},
};

static void build_end(view *v)
{
    enum { SIGNALS = 128 }; /* a shell's exit code of a process that a signal ended */
    const profile_watch *w = ((const profile *)v->root.at)->watch;
    view_fact end = {.name = STR("Ended")};
    if (w->exit_code > SIGNALS)
        end.value = str_printf(v->a, "by signal %d", (int)w->exit_code - SIGNALS);
    else if (w->exit_code >= 0)
        end.value = str_printf(v->a, "exit code %d", (int)w->exit_code);
    else
        end.note = w->interrupted ? STR("watching was interrupted") : STR("not known");
    view_add_fact(v, end);
}

static const view_section_row watch_rows[] = {
    {VIEW_SECTION("Watched", NULL, "all watch", "watch"), .first = true, .build = build_end,
     VIEW_FACTS(watch_facts)},
    {.title = "Over time", .in = "all watch", .when = "watch", VIEW_SPARKS(watch_sparks)},
};
const view_sections profile_watch_sections = VIEW_LIST(watch_rows);
