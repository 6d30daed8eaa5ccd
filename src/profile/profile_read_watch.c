/* The section `watch`, read back. */
#include "profile/profile_read_impl.h"

static const read_row sample_rows[] = {
    ROW_F64(profile_watch_sample, "time_s", time_s, NULL_ZERO),
    ROW_F64(profile_watch_sample, "cpu_percent", cpu_percent, NULL_NAN),
    ROW_U64(profile_watch_sample, "resident", resident),
    ROW_U64(profile_watch_sample, "anonymous", anon),
    ROW_U64(profile_watch_sample, "file_backed", file),
    ROW_U64(profile_watch_sample, "processes", processes),
    ROW_U64(profile_watch_sample, "threads", threads),
    ROW_SIZE(profile_watch_sample, "read_bytes", read_bytes),
    ROW_SIZE(profile_watch_sample, "written_bytes", written_bytes),
    ROW_U64(profile_watch_sample, "minor_faults", minor_faults),
    ROW_U64(profile_watch_sample, "major_faults", major_faults),
};
static const read_table sample_table = {READ_TABLE(sample_rows),
                                        .size = sizeof(profile_watch_sample)};

static const read_row watch_rows[] = {
    ROW_STR(doc_watch, "command", w.command),
    ROW_U64(doc_watch, "pid", w.pid),
    ROW_SIZE(doc_watch, "exit_code", exit_code),
    ROW_BOOL(doc_watch, "interrupted", w.interrupted),
    ROW_F64(doc_watch, "interval_s", w.interval_s, NULL_ZERO),
    ROW_F64(doc_watch, "wall_s", w.wall_s, NULL_ZERO),
    ROW_F64(doc_watch, "cpu_s", w.cpu_s, NULL_ZERO),
    ROW_F64(doc_watch, "cpu_percent", w.cpu_percent, NULL_NAN),
    ROW_U64(doc_watch, "peak_resident", w.peak_resident),
    ROW_U64(doc_watch, "average_resident", w.average_resident),
    ROW_U64(doc_watch, "peak_anonymous", w.peak_anon),
    ROW_U64(doc_watch, "peak_file_backed", w.peak_file),
    ROW_U64(doc_watch, "peak_processes", w.peak_processes),
    ROW_U64(doc_watch, "peak_threads", w.peak_threads),
    ROW_U64(doc_watch, "voluntary_switches", w.voluntary_switches),
    ROW_U64(doc_watch, "involuntary_switches", w.involuntary_switches),
    ROW_U64(doc_watch, "minor_faults", w.minor_faults),
    ROW_U64(doc_watch, "major_faults", w.major_faults),
    ROW_SIZE(doc_watch, "read_bytes", w.read_bytes),
    ROW_SIZE(doc_watch, "written_bytes", w.written_bytes),
    ROW_SIZE(doc_watch, "read_chars", w.read_chars),
    ROW_SIZE(doc_watch, "written_chars", w.written_chars),
    ROW_LIST(doc_watch, "samples", w.samples, w.n_samples, sample_table),
};
const read_table read_watch_table = {READ_TABLE(watch_rows),
                                     .present = 1 + offsetof(doc_watch, present)};

bool read_finish_watch(reader *r, doc *d)
{
    if (!d->watch.present)
        return true;
    d->p.watch = ARENA_NEW(r->arena, profile_watch);
    if (!d->p.watch)
        return read_no_memory(r);
    *d->p.watch = d->watch.w;
    d->p.watch->exit_code = d->watch.exit_code == PROFILE_NOT_TOLD
                                ? -1
                                : (int64_t)(d->watch.exit_code & 0xff);
    return true;
}
