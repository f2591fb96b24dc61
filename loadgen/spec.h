/* The spec: `key=value` lines as numbers, with all mistakes at once. Keys describe the whole load
 * of several processes, except `threads` and `first_worker`. */
#ifndef SCALE_SPEC_H
#define SCALE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "mistakes.h"

#define SCALE_PROTOCOL 1

enum sending { SENDING_REAL, SENDING_STUBBED };
enum placement { PLACEMENT_OWNED, PLACEMENT_STOCK };
enum order { ORDER_ROTATE, ORDER_PROGRESSIVE };
enum arrival { ARRIVAL_CONSTANT, ARRIVAL_POISSON };
enum precision { PRECISION_MS, PRECISION_US, PRECISION_NS };
enum disorder_mode { DISORDER_SWAP, DISORDER_POISSON, DISORDER_BATCH };
enum text_mode { TEXT_VOCABULARY, TEXT_RANDOM, TEXT_CHINESE };
enum verb { VERB_LOAD, VERB_TABLES, VERB_SQL, VERB_LIBRARY, VERB_ROWS, VERB_NAMES, VERB_SUMS };

enum { SPEC_OPTIONS_MAX = 32, SPEC_ASKS_MAX = 512 };

struct spec_option { /* key of a driver, or ask.NAME.PART */
    const char *name;
    const char *value;
};

struct spec {
    char *text; /* every string below points into it or at a constant */
    uint64_t protocol;
    const char *driver, *method, *library;
    const char *host, *socket_dir, *user, *database, *table, *statements;
    uint64_t port; /* 0: the driver's usual one */
    const char *columns, *tags, *tag_groups, *tag_prefix, *operations, *rows_of, *items, *values;
    const char *sums_of;
    const char *decimals, *trace, *sample_file, *tags_file, *first_row;
    const char *held_s;
    uint64_t tables, partitions, threads, first_worker, workers_total;
    uint64_t rows_per_request, requests_per_table, interlace_rows;
    uint64_t partial_columns, partial_from;
    uint64_t rows, retries, max_errors, seed, start_ms, start_at_ns, disorder_range_ms;
    uint64_t placement, order, arrival, precision, text_mode, disorder_mode;
    uint64_t sample_rows, sample_period, sample_times;
    uint64_t requests, period_rows, disorder_max_k, disorder_rows;
    uint64_t sending; /* enum sending */
    uint64_t sums_decimal, sums_distinct;
    uint64_t rows_present, read_seed, check_every, rounds, trace_every, trace_max;
    uint64_t held;         /* see held.h */
    uint64_t arrival_seed; /* 0: as seed */
    double check_per_s;
    double duration_s, warmup_s, rate, interval_s, step_ms, null_ratio, disorder_ratio;
    double disorder_lambda, behind_s;
    double request_timeout_s, drain_s, connect_timeout_s, statement_timeout_s, round_interval_s;
    struct spec_option options[SPEC_OPTIONS_MAX];
    uint32_t option_count;
    struct spec_option asks[SPEC_ASKS_MAX]; /* with whole names */
    uint32_t ask_count;
};

typedef bool spec_is_option(const void *context, const char *key);

/* Or standard input for "-"; NULL after reporting why. */
char *spec_load_text(const char *path);

/* Reads an unread text; false: the key is not there. */
bool spec_peek(const char *text, const char *key, char *value, uint32_t size);

/* Takes over `text`; spec_check checks what keys mean together. */
void spec_read(struct spec *spec, char *text, spec_is_option *is_option, const void *context,
               struct mistakes *mistakes);
void spec_check(struct spec *spec, enum verb verb, struct mistakes *mistakes);
void spec_free(struct spec *spec);

const char *spec_option(const struct spec *spec, const char *name);

/* *value stays without the key. False, with the reason in `why`. */
bool spec_option_whole(const struct spec *spec, const char *name, uint64_t least, uint64_t most,
                       uint64_t *value, char *why, uint32_t why_size);

/* The seed of what comes at random times. */
static inline uint64_t spec_arrival_seed(const struct spec *spec)
{
    return spec->arrival_seed ? spec->arrival_seed : spec->seed;
}

/* 1, 1000 or 1000000. */
int64_t spec_units_per_ms(const struct spec *spec);

/* Columns of a request, the first being partial_from. */
static inline uint32_t spec_column_count(const struct spec *spec, uint32_t columns)
{
    return spec->partial_columns ? (uint32_t)spec->partial_columns : columns;
}

#endif
