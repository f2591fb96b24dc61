/* The events of the protocol: JSON lines on standard output, never waited for (output.h). */
#ifndef SCALE_EVENTS_H
#define SCALE_EVENTS_H

#include "drivers/driver.h"
#include "histogram.h"
#include "json.h"
#include "placement.h"

struct interval_operation {
    const char *name;
    uint64_t requests;
    uint64_t p99_ns; /* response time; 0: too few requests */
};

struct interval {
    double t_s;
    uint64_t monotonic_ns;
    const char *phase;
    uint64_t rows, rows_total, requests, errors, retries;
    uint32_t operation_count;
    struct interval_operation operations[OPERATIONS_MAX];
    bool is_open_loop;
    double backlog_rows;
    double cpu_s; /* CPU time of this process */
    const struct histogram *response, *service;
};

void event_begin(struct json *json, const char *event); /* {"event":"...", */
void event_end(struct json *json);                      /* } and out; frees */

/* "key":["deadline",...]: the features' names */
void event_put_features(struct json *json, const char *key, uint32_t features);

void event_hello(const struct driver_setup *setup, const struct driver_ops *ops,
                 const struct driver *driver, const uint32_t *partition_of);
void event_library(const struct driver_ops *ops, const struct driver *driver);
void event_connected(const char *tls_version);
void event_phase(const char *phase, uint64_t monotonic_ns);
void event_interval(const struct interval *interval);
/* worker < 0: none; `count`: of this code until now */
void event_error(const struct fault *fault, int64_t worker, uint64_t count);

void event_put_histogram(struct json *json, const char *key, const struct histogram *histogram);

#endif
