/* The view of capacity plans. */
#include "profile/capacity.h"
#include "report/views.h"

static const view_fact_row capacity_facts[] = {
    VIEW_FACT("Machines", "{plans.@best.machines:whole}",
              "{plans.@best.machines_low:whole} to {plans.@best.machines_high:whole} in 80 %; "
              "{plans.@best.source:text} on {plans.@best.device:text}, "
              "{plans.@best.concurrency:whole user} each|batch {plans.@best.batch:text}, "
              "{plans.@best.concurrency:text} at a time",
              "plans.@best.machines"),
    VIEW_FACT("Latency, {latency_name:text}", "{plans.@best.latency_quantile_ms:ms}",
              "mean {plans.@best.latency_mean_ms:ms}", "plans.@best.latency_quantile_ms"),
    VIEW_FACT("Load", "{plans.@best.utilization:share}",
              "of each machine, {plans.@best.requests_per_second:rate} requests/s",
              "plans.@best.utilization"),
    VIEW_FACT("Cost per hour", "{plans.@best.cost_per_hour:fixed2} USD",
              "{plans.@best.price_per_hour:fixed2} each: {plans.@best.price_basis:text}",
              "plans.@best.cost_per_hour"),
};

static const view_column capacity_columns[] = {
    VIEW_TEXT("Best", "[{+best:text}]"),
    VIEW_NUMBER("Batch", "{batch:text}", .drop = 1),
    VIEW_TEXT("Type", "{precision:text}", .drop = 8),
    VIEW_NUMBER("At a time", "{concurrency:text}", .drop = 7),
    VIEW_NUMBER("Machines", "{machines:whole}", .drop = 1),
    VIEW_NUMBER("Load", "[{utilization:share}]", .drop = 2),
    VIEW_NUMBER("{latency_name:text}", "[{latency_quantile_ms:ms}]", .drop = 1),
    VIEW_NUMBER("Forming", "[{forming_mean_ms:ms}]", .drop = 5),
    VIEW_NUMBER("Waiting", "[{waiting_mean_ms:ms}]", .drop = 4),
    VIEW_NUMBER("Running", "[{service_mean_ms:ms}]", .drop = 3),
    VIEW_NUMBER("Most/s", "{requests_per_second_most:rate}", .drop = 6),
    VIEW_NUMBER("USD/h", "[{cost_per_hour:fixed2}]", .drop = 9),
};
static const view_column language_columns[] = {
    VIEW_TEXT("Best", "[{+best:text}]"),
    VIEW_TEXT("Model", "{source:text}", .min = 12),
    VIEW_TEXT("Device", "{device:text}"),
    VIEW_TEXT("Type", "{precision:text}", .drop = 8),
    VIEW_NUMBER("Machines", "{machines:whole}"),
    VIEW_NUMBER("80 % within", "[{machines_low:whole} to {machines_high:whole}]", .drop = 6,
                .tone = TONE_DIM),
    VIEW_NUMBER("Users each", "{+concurrency:whole}|–", .drop = 5),
    VIEW_NUMBER("Load", "[{utilization:share}]", .drop = 7),
    VIEW_NUMBER("First token", "[{ttft_ms:ms}]"),
    VIEW_NUMBER("Per token", "[{itl_ms:ms}]"),
    VIEW_NUMBER("Tokens/s", "[{tokens_per_second:fixed1}]", .drop = 4),
    VIEW_NUMBER("USD/h", "[{cost_per_hour:fixed2}]", .drop = 3),
    VIEW_TEXT("", "[{?+imprecise:imprecise}]", .tone = TONE_DIM),
};
static const view_table_row capacity_tables[] = {
    {.path = "plans", VIEW_COLUMNS(capacity_columns), .when = "!generate"},
    {.path = "plans", VIEW_COLUMNS(language_columns), .when = "+generate"},
};
static const view_line_row capacity_lines[] = {
    VIEW_LINE("{source:text} on {device:text}: {why:text}.", "+why,+^generate", DIM,
              .each = "plans"),
    VIEW_LINE("Batch {batch:text}: {why:text}.", "+why,!^generate", DIM, .each = "plans"),
};

static void say_capacity(view *v)
{
    if (fields_get(&v->root, "best").type == VALUE_NONE)
        view_add_banner(v, TONE_POOR,
                        STR("No configuration meets the target, with any number of machines."));
}

static const view_section_row capacity_sections[] = {
    {.first = true, VIEW_FACTS(capacity_facts)},
    {VIEW_SECTION(
         "Configurations",
         "{?+generate:expected times of a request}|times are means of a request; most/s is "
         "of one machine",
         NULL, NULL),
     .first = true, VIEW_TABLES(capacity_tables), VIEW_LINES(capacity_lines)},
};

static const view_column csv_columns[] = {
    VIEW_TEXT("source", "source"),
    VIEW_TEXT("batch", "batch"),
    VIEW_TEXT("precision", "precision"),
    VIEW_TEXT("concurrency", "concurrency"),
    VIEW_TEXT("runs", "runs"),
    VIEW_TEXT("feasible", "feasible"),
    VIEW_TEXT("best", "best"),
    VIEW_TEXT("machines", "machines"),
    VIEW_TEXT("requests_per_second", "requests_per_second"),
    VIEW_TEXT("utilization", "utilization"),
    VIEW_TEXT("latency_quantile_ms", "latency_quantile_ms"),
    VIEW_TEXT("latency_mean_ms", "latency_mean_ms"),
    VIEW_TEXT("forming_mean_ms", "forming_mean_ms"),
    VIEW_TEXT("waiting_mean_ms", "waiting_mean_ms"),
    VIEW_TEXT("service_mean_ms", "service_mean_ms"),
    VIEW_TEXT("in_flight", "in_flight"),
    VIEW_TEXT("requests_per_second_most", "requests_per_second_most"),
    VIEW_TEXT("why", "why"),
    VIEW_TEXT("device", "device"),
    VIEW_TEXT("ttft_ms", "ttft_ms"),
    VIEW_TEXT("itl_ms", "itl_ms"),
    VIEW_TEXT("tokens_per_second", "tokens_per_second"),
    VIEW_TEXT("machines_low", "machines_low"),
    VIEW_TEXT("machines_high", "machines_high"),
    VIEW_TEXT("price_per_hour", "price_per_hour"),
    VIEW_TEXT("cost_per_hour", "cost_per_hour"),
    VIEW_TEXT("price_basis", "price_basis"),
};
static const view_csv_row capacity_csv[] = {{"plans", "plans", VIEW_COLUMNS(csv_columns)}};

const view_kind capacity_view = {
    .of = &capacity_kind,
    .title = "{model:text} · {target_requests_per_second:whole request}/s",
    .under = "[{prompt_tokens:whole prompt token} · {generate:text} generated · ][{slo:text} · ]"
             "[{limit_name:text} within {latency_limit_ms:ms} · ]{headroom:share} of each machine "
             "kept free",
    VIEW_SECTIONS(capacity_sections),
    VIEW_CSV(capacity_csv),
    .remarks = "notes",
    .begin = say_capacity,
};
