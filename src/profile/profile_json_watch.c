/* The section `watch`: a process as it was watched. */
#include "profile/profile_json.h"

static void key_told(json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    if (v == PROFILE_NOT_TOLD)
        json_null(w);
    else
        json_u64(w, v);
}

static void put_sample(json_writer *w, const profile_watch_sample *s)
{
    json_flat_object(w);
    key_fixed(w, "time_s", s->time_s, 6);
    key_fixed(w, "cpu_percent", s->cpu_percent, 3);
    key_u64(w, "resident", s->resident);
    key_u64(w, "anonymous", s->anon);
    key_u64(w, "file_backed", s->file);
    key_u64(w, "processes", s->processes);
    key_u64(w, "threads", s->threads);
    key_told(w, "read_bytes", s->read_bytes);
    key_told(w, "written_bytes", s->written_bytes);
    key_u64(w, "minor_faults", s->minor_faults);
    key_u64(w, "major_faults", s->major_faults);
    json_end(w);
}

void profile_json_watch(json_writer *w, const profile_watch *x)
{
    if (!x)
        return;
    json_key(w, "watch");
    json_object(w);
    key_str(w, "command", x->command);
    key_u64(w, "pid", x->pid);
    json_key(w, "exit_code");
    if (x->exit_code < 0)
        json_null(w);
    else
        json_i64(w, x->exit_code);
    key_bool(w, "interrupted", x->interrupted);
    key_f64(w, "interval_s", x->interval_s);
    key_f64(w, "wall_s", x->wall_s);
    key_f64(w, "cpu_s", x->cpu_s);
    key_f64(w, "cpu_percent", x->cpu_percent);
    key_u64(w, "peak_resident", x->peak_resident);
    key_u64(w, "average_resident", x->average_resident);
    key_u64(w, "peak_anonymous", x->peak_anon);
    key_u64(w, "peak_file_backed", x->peak_file);
    key_u64(w, "peak_processes", x->peak_processes);
    key_u64(w, "peak_threads", x->peak_threads);
    key_u64(w, "voluntary_switches", x->voluntary_switches);
    key_u64(w, "involuntary_switches", x->involuntary_switches);
    key_u64(w, "minor_faults", x->minor_faults);
    key_u64(w, "major_faults", x->major_faults);
    key_told(w, "read_bytes", x->read_bytes);
    key_told(w, "written_bytes", x->written_bytes);
    key_told(w, "read_chars", x->read_chars);
    key_told(w, "written_chars", x->written_chars);
    json_key(w, "samples");
    json_array(w);
    for (uint32_t i = 0; i < x->n_samples; i++)
        put_sample(w, &x->samples[i]);
    json_end(w);
    json_end(w);
}
