/* See events.h. */
#include "events.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

void event_begin(struct json *json, const char *event)
{
    *json = (struct json){0};
    json_open(json, '{');
    json_put_text(json, "event", event);
}

void event_end(struct json *json)
{
    json_close(json, '}');
    output_put(json->text, json->used);
    json_free(json);
}

/* As the kernel lists them: "0-3,8". */
static void put_cpus_allowed(struct json *json)
{
    char line[4096];
    const char *cpus = NULL;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && !cpus && fgets(line, sizeof line, file))
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
            cpus = line + 18 + strspn(line + 18, " \t");
            line[strcspn(line, "\n")] = '\0';
        }
    json_put_text(json, "cpus_allowed", cpus);
    if (file)
        fclose(file);
}

static void put_tables_per_partition(struct json *json, const struct spec *spec,
                                     const uint32_t *partition_of)
{
    uint64_t *tables = calloc(spec->partitions, sizeof *tables);
    if (!tables)
        abort();
    for (uint32_t i = 0; i < spec->tables; i++)
        tables[partition_of[i]]++;
    json_begin(json, "tables_per_partition", '[');
    for (uint32_t i = 0; i < spec->partitions; i++) {
        char text[24];
        json_plain(json, text,
                   (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)tables[i]));
    }
    json_close(json, ']');
    free(tables);
}

static void put_library(struct json *json, const struct driver_ops *ops,
                        const struct driver *driver)
{
    json_put_text(json, "library", ops->library_path ? ops->library_path(driver) : NULL);
    json_put_text(json, "library_version",
                  ops->library_version ? ops->library_version(driver) : NULL);
}

void event_library(const struct driver_ops *ops, const struct driver *driver)
{
    struct json json;
    event_begin(&json, "library");
    json_put_text(&json, "driver", ops->name);
    put_library(&json, ops, driver);
    event_end(&json);
}

void event_put_features(struct json *json, const char *key, uint32_t features)
{
    json_begin(json, key, '[');
    for (uint32_t bit = 0; bit < FEATURE_COUNT; bit++)
        if (features & 1u << bit)
            json_text(json, feature_names[bit], strlen(feature_names[bit]));
    json_close(json, ']');
}

void event_hello(const struct driver_setup *setup, const struct driver_ops *ops,
                 const struct driver *driver, const uint32_t *partition_of)
{
    const struct spec *spec = setup->spec;
    struct json json;
    event_begin(&json, "hello");
    json_put_whole(&json, "protocol", SCALE_PROTOCOL);
    json_put_text(&json, "version", SCALE_VERSION);
    json_put_text(&json, "driver", ops->name);
    json_put_text(&json, "method", spec->method);
    event_put_features(&json, "features", setup->method->features);
    put_library(&json, ops, driver);
    json_put_whole(&json, "pid", (uint64_t)getpid());
    json_put_whole(&json, "threads", spec->threads);
    json_put_whole(&json, "first_worker", spec->first_worker);
    json_put_whole(&json, "workers_total", spec->workers_total);
    json_put_whole(&json, "tables", spec->tables);
    json_put_whole(&json, "partitions", spec->partitions);
    put_tables_per_partition(&json, spec, partition_of);
    json_put_whole(&json, "row_bytes",
                   ops->row_bytes ? ops->row_bytes(driver) : schema_row_bytes(setup->schema));
    json_put_whole(&json, "seed", spec->seed);
    put_cpus_allowed(&json);
    event_end(&json);
}

void event_connected(const char *tls_version)
{
    struct json json;
    event_begin(&json, "connected");
    json_put_text(&json, "tls", tls_version);
    event_end(&json);
}

void event_phase(const char *phase, uint64_t monotonic_ns)
{
    struct json json;
    event_begin(&json, "phase");
    json_put_text(&json, "phase", phase);
    json_put_whole(&json, "monotonic_ns", monotonic_ns);
    event_end(&json);
}

static void put_quantile(struct json *json, const char *key, const struct histogram *h, double q)
{
    uint64_t value_ns = 0;
    if (histogram_quantile(h, q, &value_ns))
        json_put_real(json, key, (double)value_ns / 1e3);
    else
        json_put_null(json, key);
}

static void put_highest(struct json *json, const char *key, const struct histogram *h)
{
    const uint64_t most = histogram_highest_ns(h);
    json_put_real(json, key, most ? (double)most / 1e3 : NAN);
}

/* So that any stretch of intervals has its own percentiles. */
static void put_counts(struct json *json, const char *key, const struct histogram *h)
{
    char *hdr = counter_get(&h->total) ? histogram_encode(h) : NULL;
    json_put_text(json, key, hdr);
    free(hdr);
}

static void put_operations(struct json *json, const struct interval *i)
{
    json_begin(json, "operations", '{');
    for (uint32_t k = 0; k < i->operation_count; k++)
        json_put_whole(json, i->operations[k].name, i->operations[k].requests);
    json_close(json, '}');
    json_begin(json, "operations_p99_us", '{');
    for (uint32_t k = 0; k < i->operation_count; k++)
        if (i->operations[k].p99_ns)
            json_put_real(json, i->operations[k].name, (double)i->operations[k].p99_ns / 1e3);
    json_close(json, '}');
}

void event_interval(const struct interval *i)
{
    struct json json;
    if (output_is_behind()) /* memory must not grow with the load's length */
        return;
    event_begin(&json, "interval");
    json_put_real(&json, "t_s", round(i->t_s * 1e6) / 1e6);
    json_put_whole(&json, "monotonic_ns", i->monotonic_ns);
    json_put_text(&json, "phase", i->phase);
    json_put_whole(&json, "rows", i->rows);
    json_put_whole(&json, "rows_total", i->rows_total);
    json_put_whole(&json, "requests", i->requests);
    json_put_whole(&json, "errors", i->errors);
    json_put_whole(&json, "retries", i->retries);
    put_operations(&json, i);
    put_quantile(&json, "response_us_p50", i->response, 0.5);
    put_quantile(&json, "response_us_p99", i->response, 0.99);
    put_highest(&json, "response_us_max", i->response);
    put_quantile(&json, "service_us_p50", i->service, 0.5);
    put_quantile(&json, "service_us_p99", i->service, 0.99);
    put_highest(&json, "service_us_max", i->service);
    json_put_real(&json, "backlog_rows", i->is_open_loop ? round(i->backlog_rows) : NAN);
    json_put_real(&json, "cpu_s", i->cpu_s);
    put_counts(&json, "response_hdr", i->response);
    if (i->is_open_loop) /* else it is the same */
        put_counts(&json, "service_hdr", i->service);
    else
        json_put_null(&json, "service_hdr");
    event_end(&json);
}

void event_error(const struct fault *fault, int64_t worker, uint64_t count)
{
    struct json json;
    event_begin(&json, "error");
    json_put_text(&json, "code", fault->code);
    json_put_text(&json, "message", fault->message);
    json_put_known(&json, "worker", worker >= 0, (uint64_t)worker);
    json_put_whole(&json, "count", count);
    event_end(&json);
}

void event_put_histogram(struct json *json, const char *key, const struct histogram *h)
{
    const uint64_t total = counter_get(&h->total);
    char *hdr = histogram_encode(h);
    json_begin(json, key, '{');
    json_put_whole(json, "count", total);
    json_put_real(json, "min_us", total ? (double)counter_get(&h->least_ns) / 1e3 : NAN);
    json_put_real(json, "mean_us",
                  total ? (double)counter_get(&h->sum_ns) / (double)total / 1e3 : NAN);
    put_quantile(json, "p10_us", h, 0.1);
    put_quantile(json, "p25_us", h, 0.25);
    put_quantile(json, "p50_us", h, 0.5);
    put_quantile(json, "p75_us", h, 0.75);
    put_quantile(json, "p90_us", h, 0.9);
    put_quantile(json, "p95_us", h, 0.95);
    put_quantile(json, "p99_us", h, 0.99);
    put_quantile(json, "p999_us", h, 0.999);
    json_put_real(json, "max_us", total ? (double)counter_get(&h->most_ns) / 1e3 : NAN);
    json_put_text(json, "hdr", hdr);
    json_close(json, '}');
    free(hdr);
}
