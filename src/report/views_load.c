/* The view of loads on endpoints. */
#include "profile/load.h"
#include "report/views.h"

static const view_fact_row summary_facts[] = {
    VIEW_FACT("Requests", "{requests:whole}",
              "[{succeeded:whole} succeeded, ]{failed:whole} failed in {duration_s:fixed1} s",
              NULL),
    VIEW_FACT("Throughput", "{throughput.requests_per_second:rate}",
              "requests/s[, {throughput.offered_requests_per_second:rate} offered]", "+succeeded"),
    VIEW_FACT("Tokens", "{throughput.tokens_per_second:rate}",
              "tokens/s out[, {throughput.input_tokens_per_second:rate} in], counted by "
              "{tokens_source:text}",
              "throughput.tokens_per_second"),
    VIEW_FACT("Goodput", "{slo.goodput_requests_per_second:rate}",
              "requests/s within {slo.text:text}, {slo.good_share:share} of all", "slo"),
    VIEW_FACT("Error rate", "{error_rate:share}", NULL, "+failed"),
    VIEW_FACT("Network", "{network.received_bytes:bytes} in",
              "{network.sent_bytes:bytes} out, {network.received_bytes_per_second:bytes}/s and "
              "{network.sent_bytes_per_second:bytes}/s",
              "+requests"),
    VIEW_FACT(
        "Client", "{client.cpu_percent:percent}",
        "of a core, {client.connections:whole connection}, {client.in_flight_most:whole request} "
        "in flight at most[, sends late by {client.send_delay_p50_us} "
        "(P99 {client.send_delay_p99_us})]",
        "client.cpu_percent"),
};

/* ---- latency, time to first token, gaps: one row each ---- */

static const view_column times_columns[] = {
    VIEW_TEXT("", ""),
    VIEW_NUMBER("P50", "{p50:ms}", .drop = 1),
    VIEW_NUMBER("P90", "{p90:ms}", .drop = 4),
    VIEW_NUMBER("P95", "{p95:ms}", .drop = 5),
    VIEW_NUMBER("P99", "{p99:ms}", .drop = 1),
    VIEW_NUMBER("P99.9", "{p999:ms}", .drop = 7),
    VIEW_NUMBER("Mean", "{mean:ms}", .drop = 2),
    VIEW_TEXT("95 % of the mean", "[{ci95_low..ci95_high:ms}]", .drop = 6),
    VIEW_NUMBER("Max", "{max:ms}", .drop = 3),
    VIEW_NUMBER("Values", "{runs:whole}", .drop = 8),
};

static void add_times(view *v)
{
    static const char *const paths[] = {"latency", "ttft", "itl"};
    static const str names[] = {{"Latency", 7}, {"First token", 11}, {"Token gap", 9}};
    field_value rows[3];
    str shown[3];
    uint32_t n = 0;
    for (int i = 0; i < 3; i++) {
        field_value t = fields_get(&v->root, paths[i]);
        if (t.type != VALUE_OBJECT)
            continue;
        shown[n] = names[i];
        rows[n++] = t;
    }
    view_table *t = n ? view_add_values(v, times_columns,
                                        sizeof times_columns / sizeof *times_columns, rows, n)
                      : NULL;
    for (uint32_t i = 0; t && i < n; i++)
        t->cells[i * t->n_columns] = shown[i];
}

/* ---- curve ---- */

static const view_column curve_columns[] = {
    VIEW_TEXT("", "[{?knee=true:knee}][{?best=true: best}]"),
    VIEW_NUMBER("Offered/s", "{rate:rate}", .drop = 1),
    VIEW_NUMBER("Achieved/s", "{requests_per_second:rate}", .drop = 1),
    VIEW_NUMBER("Goodput/s", "{goodput:rate}", .when = "slo", .drop = 3),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:rate}", .when = "throughput.tokens_per_second",
                .drop = 4),
    VIEW_NUMBER("P50", "{p50:ms}", .drop = 1),
    VIEW_NUMBER("P99", "{p99:ms}", .drop = 1),
    VIEW_TEXT("95 % of P99", "[{p99_low..p99_high:ms}]", .drop = 9),
    VIEW_NUMBER("TTFT P99", "{ttft_p99:ms}", .when = "ttft", .drop = 5),
    VIEW_NUMBER("ITL P99", "{itl_p99:ms}", .when = "itl", .drop = 6),
    VIEW_NUMBER("Errors", "{errors:whole}", .drop = 7),
    VIEW_TEXT(
        "State",
        "{?saturated=true:saturated}|{?client_saturated=true:client limit}|{?steady=true:steady}"
        "|unsteady",
        .drop = 8),
    VIEW_TEXT("SLO", "{?meets_slo=true:met}|missed", .when = "slo", .drop = 2),
};
static const view_table_row curve_tables[] = {
    {.path = "curve", VIEW_COLUMNS(curve_columns), .limit = 60},
};
static const view_fact_row curve_facts[] = {
    VIEW_FACT("Highest rate", "{curve_summary.max_rate:rate}",
              "requests/s within {slo.text:text}[; {curve_summary.next_rate:rate} is not]",
              "curve_summary.max_rate,slo"),
    VIEW_FACT("Highest rate", "{curve_summary.max_rate:rate}",
              "requests/s that the server sustains[; {curve_summary.next_rate:rate} is not]",
              "curve_summary.max_rate,!slo"),
    VIEW_FACT("Highest rate", "none", "no rate that was tried is good enough",
              "curve_summary,!curve_summary.max_rate"),
    VIEW_FACT("Knee", "{curve_summary.knee_rate:rate}",
              "requests/s: most throughput for its latency", "curve_summary.knee_rate"),
    VIEW_FACT("Highest throughput", "{curve_summary.saturation_requests_per_second:rate}",
              "requests/s of any step", "curve_summary.saturation_requests_per_second"),
};
static const view_line_row curve_lines[] = {
    VIEW_LINE("The server was never saturated: the curve has no end. Use a longer --duration.",
              "curve_summary,curve_summary.complete=false", FAIR),
};

/* ---- SLO, errors, server ---- */

static const view_column limit_columns[] = {
    VIEW_TEXT("Metric", "{metric:text}"),           VIEW_NUMBER("Quantile", "{quantile:share}"),
    VIEW_NUMBER("Limit", "{limit_ms:ms}"),          VIEW_NUMBER("Measured", "{value_ms:ms}"),
    VIEW_TEXT("Verdict", "{?met=true:met}|missed"),
};
static const view_table_row slo_tables[] = {{.path = "slo.limits", VIEW_COLUMNS(limit_columns)}};

static const view_column error_columns[] = {
    VIEW_TEXT("Kind", "{@key:text}"),
    VIEW_NUMBER("Requests", "{:whole}"),
};
static const view_table_row error_tables[] = {{.path = "errors", VIEW_COLUMNS(error_columns)}};
static const view_column cause_columns[] = {
    VIEW_TEXT("Kind", "{@key:text}"),
    VIEW_TEXT("First cause", "{:text}", .min = 20),
};
static const view_table_row cause_tables[] = {
    {.path = "error_causes", VIEW_COLUMNS(cause_columns)}};

static const view_fact_row server_facts[] = {
    VIEW_FACT("Process", "{server.command:text}", "[process {+server.pid:text}]", "server"),
    VIEW_FACT("CPU", "{server.cpu_percent:percent}", "100 % is one core", "server.cpu_percent"),
    VIEW_FACT("Memory", "{server.peak_resident:bytes}",
              "at most, {server.average_resident:bytes} on average", "server"),
};
static const view_spark_row server_sparks[] = {
    {"CPU", "server.samples", "cpu_percent"},
    {"Memory", "server.samples", "resident"},
};

static const view_column moment_columns[] = {
    VIEW_NUMBER("Time", "{time_s:s}"),
    VIEW_NUMBER("Requests/s", "{requests_per_second:rate}"),
    VIEW_NUMBER("Tokens/s", "{tokens_per_second:rate}", .when = "throughput.tokens_per_second"),
    VIEW_NUMBER("P50", "[{p50:ms}]"),
    VIEW_NUMBER("P99", "[{p99:ms}]"),
    VIEW_NUMBER("Errors", "{errors:whole}"),
};
static const view_table_row moment_tables[] = {
    {.path = "timeline", VIEW_COLUMNS(moment_columns), .limit = 120}};
static const view_spark_row moment_sparks[] = {
    {"Requests/s", "timeline", "requests_per_second"},
    {"P99", "timeline", "p99"},
};

static void say_load(view *v)
{
    static const struct {
        const char *when, *text;
        view_tone tone;
    } lines[] = {
        {"target.loopback=false",
         "The target is not this machine: {target.host:text} ({target.address:text}, port "
         "{target.port:text}). Latency includes the network.",
         TONE_FAIR},
        {"interrupted=true", "Interrupted: these are the measurements so far.", TONE_FAIR},
        {"succeeded=0", "No request succeeded.", TONE_POOR},
        {"slo,slo.met=false,settings.mode!=curve", "The SLO was missed: {slo.text:text}.",
         TONE_POOR},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (view_holds(v, &v->root, lines[i].when))
            view_add_banner(v, lines[i].tone, view_text(v, &v->root, lines[i].text));
}

static const view_section_row load_sections[] = {
    {.first = true, VIEW_FACTS(summary_facts)},
    {VIEW_SECTION("Latency", "from when a request was due", NULL, "+requests"), .first = true,
     .build = add_times},
    {.title = "SLO", .when = "slo,settings.mode!=curve", .first = true, VIEW_TABLES(slo_tables)},
    {VIEW_SECTION("Curve", "rates offered, lowest first", NULL, "+curve"), .first = true,
     VIEW_FACTS(curve_facts), VIEW_TABLES(curve_tables), VIEW_LINES(curve_lines)},
    {.title = "Errors", .when = "+errors", .first = true, VIEW_TABLES(error_tables)},
    {.when = "+error_causes", VIEW_TABLES(cause_tables)},
    {VIEW_SECTION("Server", NULL, NULL, "server"), .first = true, VIEW_FACTS(server_facts),
     VIEW_SPARKS(server_sparks)},
    {.title = "Over time", .when = "++timeline", VIEW_SPARKS(moment_sparks)},
    {.when = "++timeline,$verbose", VIEW_TABLES(moment_tables)},
};

static const view_column csv_columns[] = {
    VIEW_TEXT("url", "target.url"),
    VIEW_TEXT("protocol", "target.protocol"),
    VIEW_TEXT("mode", "settings.mode"),
    VIEW_TEXT("concurrency", "settings.concurrency"),
    VIEW_TEXT("rate", "settings.rate"),
    VIEW_TEXT("requests", "requests"),
    VIEW_TEXT("failed", "failed"),
    VIEW_TEXT("requests_per_second", "throughput.requests_per_second"),
    VIEW_TEXT("tokens_per_second", "throughput.tokens_per_second"),
    VIEW_TEXT("goodput", "slo.goodput_requests_per_second"),
    VIEW_TEXT("latency_mean_ms", "latency.mean"),
    VIEW_TEXT("latency_p50_ms", "latency.p50"),
    VIEW_TEXT("latency_p99_ms", "latency.p99"),
    VIEW_TEXT("ttft_p50_ms", "ttft.p50"),
    VIEW_TEXT("ttft_p99_ms", "ttft.p99"),
    VIEW_TEXT("itl_p50_ms", "itl.p50"),
    VIEW_TEXT("itl_p99_ms", "itl.p99"),
    VIEW_TEXT("sent_bytes", "network.sent_bytes"),
    VIEW_TEXT("received_bytes", "network.received_bytes"),
    VIEW_TEXT("client_saturated", "client.saturated"),
};

static const view_csv_row load_csv[] = {
    {.name = "summary", .path = "", VIEW_COLUMNS(csv_columns)},
    {.name = "curve", .path = "curve"},
    {.name = "timeline", .path = "timeline"},
    {.name = "cdf", .path = "cdf"},
};

const view_kind load_view = {
    .of = &load_kind,
    .title = "Load on {target.url:text}",
    .under = "{target.protocol:text}[ · {target.model:text}] · {settings.mode:text}"
             "[ · {settings.rate:rate} requests/s {settings.arrivals:text}]"
             " · {settings.concurrency:whole connection}[{?settings.mode!=closed: at most}]"
             " · {?target.loopback=true:this machine}|{target.address:text}",
    VIEW_SECTIONS(load_sections),
    VIEW_CSV(load_csv),
    .begin = say_load,
};
