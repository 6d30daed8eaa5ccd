/* Options of `load`: what is sent, how, and what is expected of the answers. */
#include "base/amount.h"
#include "options/rows.h"

enum { HEADERS_MOST = 64, RATES_MOST = 40 };

static OPTION_SETTER(set_slo)
{
    o->load.slo = (load_objectives){0};
    o->load.slo_text = str_copy(o->arena, value);
    TRY_MEMORY(o->load.slo_text.p, err);
    return load_objectives_parse(value, &o->load.slo)
               ? ASSAY_OK
               : option_refuse(row, value, err,
                               "limits such as p99:200ms, ttft:500ms,itl:50ms or p95_ttft:400ms");
}

static OPTION_SETTER(set_rates)
{
    o->load.rates.n = 0;
    for (str rest = value, item; str_split(&rest, ',', &item);) {
        double rate;
        if (!amount_parse(AMOUNT_RATE, str_trim(item), &rate) || !(rate > 0) || rate > 1e7 ||
            o->load.rates.n == RATES_MOST)
            return option_refuse(row, value, err, "up to %d rates such as 10,20,50", RATES_MOST);
        TRY_MEMORY(VEC_ADD(o->arena, &o->load.rates, rate), err);
    }
    return ASSAY_OK;
}

/* "Name: value"; a line break in it would begin another header. */
static OPTION_SETTER(add_header)
{
    str rest = value, name = str_cut(&rest, ':');
    (void)row;
    bool good = name.n && name.n < value.n && !memchr(value.p, '\n', value.n) &&
                !memchr(value.p, '\r', value.n) && !memchr(name.p, ' ', name.n);
    if (!good)
        return err_fail(err, ASSAY_ERR_USAGE, "header must be 'Name: value'");
    if (o->load.headers.n == HEADERS_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "header may be given at most %d times", HEADERS_MOST);
    str copy = str_copy(o->arena, value);
    return copy.p && VEC_ADD(o->arena, &o->load.headers, copy) ? ASSAY_OK : err_no_memory(err);
}

static const option_row load[] = {
    {OPTION("protocol", WORD, load.protocol, "load"), .closed = true, .value = "NAME",
     .values = "auto|http|openai-chat|openai-completions|kserve|torchserve|tfserving",
     .about = "Set the protocol. Default: by the path of the URL, else http."},
    {OPTION("curve", FLAG, load.curve, "load"),
     .about =
         "Find the curve of latency over throughput: rates from light load to saturation, knee "
         "and highest rate within --slo."},
    {OPTION_READ("rates", set_rates, "load"), .value = "A,B,...", .needs = "curve",
     .about = "Measure these rates of the curve, instead of searching."},
    {OPTION_READ("slo", set_slo, "load pipeline capacity"), .value = "LIMITS",
     .about = "Set the service level objective: p99:200ms, ttft:500ms,itl:50ms, p95_ttft:400ms. A "
              "metric without a percentile means P99. Exit 6 if it is missed, without --curve. "
              "pipeline, capacity: compared with predicted percentiles."},
    {OPTION("arrivals", CHOICE, load.arrivals, "load"), .values = "poisson|constant",
     .needs = "rate|curve", .about = "Set the arrivals of an open loop. Default: poisson."},
    {OPTION("num-requests", INT, load.num_requests, "load"), .value = "N", .min = 1, .max = 4000000,
     .about = "End after this many requests."},
    {OPTION("trace", WORD, load.trace, "load"), .value = "FILE", .values = "@files",
     .about = "Replay a trace: JSON Lines with time or timestamp, or CSV with a time in seconds."},
    {OPTION("speed", REAL, load.speed, "load"), .above = true, .value = "X", .needs = "trace",
     .max = 1000000, .initial = 1, .about = "Replay the trace this many times as fast."},
    {OPTION("requests", WORD, load.requests, "load"), .value = "FILE", .values = "@files",
     .about = "Send the lines of this JSON Lines file, in turn."},
    {OPTION("method", WORD, load.method, "load"), .value = "METHOD",
     .about = "Set the HTTP method. Default: GET, with a body POST."},
    {OPTION("body", WORD, load.body, "load"), .value = "FILE", .values = "@files",
     .about = "Send the contents of this file. {{index}}, {{random}} and {{time}} are replaced. "
              "OpenAI: a JSON object whose members are added to each request."},
    {OPTION("data", WORD, load.data, "load"), .value = "TEXT",
     .about = "Send this text, as --body."},
    {OPTION_READ("header", add_header, "load"), .repeatable = true, .value = "'NAME: VALUE'",
     .about = "Add a header. Only its name is recorded."},
    {OPTION("header-file", WORD, load.header_file, "load"), .value = "FILE", .values = "@files",
     .about = "Read headers from a file, one a line, which hides them from the process list. "
              "ASSAY_API_KEY in the environment adds `Authorization: Bearer`."},
    {OPTION("expect", WORD, load.expect, "load"), .value = "TEXT",
     .about = "Count answers without this text as failed."},
    {OPTION("no-stream", FLAG, load.no_stream, "load"),
     .about = "OpenAI: request whole answers instead of streams."},
    {OPTION("request-timeout", TIME, load.timeout, "load"), .above = true, .value = "TIME",
     .max = 3600, .initial = 30,
     .about = "Count a request without an answer after this time as failed."},
    {OPTION("warmup", TIME, load.warmup, "load"), .above = true, .value = "TIME", .max = 3600,
     .about = "Send for this time first, without measuring."},
    {OPTION("insecure", FLAG, load.insecure, "load"), .about = "Accept any TLS certificate."},
    {OPTION("cacert", WORD, load.ca_file, "load"), .value = "FILE", .values = "@files",
     .about = "Check TLS certificates against this file. Default: the system's."},
    {OPTION("cgroup", WORD, load.cgroup, "load"), .value = "DIR", .values = "@folders",
     .about = "Also record CPU and memory of this control group, for example a container's."},
    {OPTION("served-model", WORD, load.model, NULL), .value = "NAME",
     .about = "Name the model as the server calls it."},
    {OPTION("server-pid", INT, load.pid, NULL), .value = "N", .min = 1, .max = 0x7fffffff,
     .about = "Also record CPU and memory of this process."},
};
OPTION_TOPIC(options_load, "Load", load);
