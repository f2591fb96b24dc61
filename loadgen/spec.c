/* See spec.h. */
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_TEXT, KIND_WHOLE, KIND_REAL, KIND_CHOICE };

struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *initial;
    double least, most;
    const char *const *choices;
};

static const char *const sendings[] = {"real", "stubbed", NULL};
static const char *const placements[] = {"owned", "stock", NULL};
static const char *const orders[] = {"rotate", "progressive", NULL};
static const char *const arrivals[] = {"constant", "poisson", NULL};
static const char *const precisions[] = {"ms", "us", "ns", NULL};
static const char *const disorder_modes[] = {"swap", "poisson", "batch", NULL};
static const char *const text_modes[] = {"vocabulary", "random", "chinese", NULL};

#define AT(member) offsetof(struct spec, member)
#define METERS_COLUMNS "current:float,voltage:int,phase:float"
#define METERS_TAGS "groupid:int,location:binary(24)"

static const struct key keys[] = {
    {"protocol", KIND_WHOLE, AT(protocol), "1", SCALE_PROTOCOL, SCALE_PROTOCOL, NULL},
    {"driver", KIND_TEXT, AT(driver), NULL, 0, 0, NULL},
    {"method", KIND_TEXT, AT(method), NULL, 0, 0, NULL},
    {"sending", KIND_CHOICE, AT(sending), "real", 0, 0, sendings},
    {"library", KIND_TEXT, AT(library), NULL, 0, 0, NULL},
    {"host", KIND_TEXT, AT(host), NULL, 0, 0, NULL},
    {"port", KIND_WHOLE, AT(port), "0", 0, 65535, NULL},
    {"socket_dir", KIND_TEXT, AT(socket_dir), NULL, 0, 0, NULL},
    {"user", KIND_TEXT, AT(user), NULL, 0, 0, NULL},
    {"database", KIND_TEXT, AT(database), NULL, 0, 0, NULL},
    {"table", KIND_TEXT, AT(table), NULL, 0, 0, NULL},
    {"statements", KIND_TEXT, AT(statements), NULL, 0, 0, NULL},
    {"operations", KIND_TEXT, AT(operations), "write", 0, 0, NULL},
    {"rows_present", KIND_WHOLE, AT(rows_present), "0", 0, 1e15, NULL},
    {"held", KIND_WHOLE, AT(held), "0", 0, 1e6, NULL},
    {"held_s", KIND_TEXT, AT(held_s), NULL, 0, 0, NULL},
    {"first_row", KIND_TEXT, AT(first_row), NULL, 0, 0, NULL},
    {"read_seed", KIND_WHOLE, AT(read_seed), "0", 0, 9e15, NULL},
    {"check_every", KIND_WHOLE, AT(check_every), "1000", 0, 1e15, NULL},
    {"check_per_s", KIND_REAL, AT(check_per_s), "0", 0, 1e9, NULL},
    {"trace", KIND_TEXT, AT(trace), NULL, 0, 0, NULL},
    {"trace_every", KIND_WHOLE, AT(trace_every), "1", 1, 1e9, NULL},
    {"trace_max", KIND_WHOLE, AT(trace_max), "1000000", 1, 100000000, NULL},
    {"rounds", KIND_WHOLE, AT(rounds), "0", 0, 1e9, NULL},
    {"round_interval_s", KIND_REAL, AT(round_interval_s), "0", 0, 1e6, NULL},
    {"items", KIND_TEXT, AT(items), NULL, 0, 0, NULL},
    {"rows_of", KIND_TEXT, AT(rows_of), NULL, 0, 0, NULL},
    {"sums_of", KIND_TEXT, AT(sums_of), NULL, 0, 0, NULL},
    {"sums_decimal", KIND_WHOLE, AT(sums_decimal), "0", 0, 1, NULL},
    {"sums_distinct", KIND_WHOLE, AT(sums_distinct), "0", 0, 1, NULL},
    {"tables", KIND_WHOLE, AT(tables), "1", 1, 100000000, NULL},
    {"columns", KIND_TEXT, AT(columns), METERS_COLUMNS, 0, 0, NULL},
    {"tags", KIND_TEXT, AT(tags), METERS_TAGS, 0, 0, NULL},
    {"tag_groups", KIND_TEXT, AT(tag_groups), NULL, 0, 0, NULL},
    {"tag_prefix", KIND_TEXT, AT(tag_prefix), NULL, 0, 0, NULL},
    {"partitions", KIND_WHOLE, AT(partitions), "1", 1, 65536, NULL},
    {"placement", KIND_CHOICE, AT(placement), "owned", 0, 0, placements},
    {"threads", KIND_WHOLE, AT(threads), "1", 1, 4096, NULL},
    {"first_worker", KIND_WHOLE, AT(first_worker), "0", 0, 1000000, NULL},
    {"workers_total", KIND_WHOLE, AT(workers_total), "0", 0, 1000000, NULL},
    {"rows_per_request", KIND_WHOLE, AT(rows_per_request), "10000", 1, 1000000, NULL},
    {"requests_per_table", KIND_WHOLE, AT(requests_per_table), "1", 1, 1e9, NULL},
    {"interlace_rows", KIND_WHOLE, AT(interlace_rows), "0", 0, 1000000, NULL},
    {"partial_columns", KIND_WHOLE, AT(partial_columns), "0", 0, 4096, NULL},
    {"partial_from", KIND_WHOLE, AT(partial_from), "0", 0, 4096, NULL},
    {"order", KIND_CHOICE, AT(order), "rotate", 0, 0, orders},
    {"rows", KIND_WHOLE, AT(rows), "0", 0, 1e15, NULL},
    {"requests", KIND_WHOLE, AT(requests), "0", 0, 1e15, NULL},
    {"duration_s", KIND_REAL, AT(duration_s), "0", 0, 1e7, NULL},
    {"warmup_s", KIND_REAL, AT(warmup_s), "0", 0, 1e7, NULL},
    {"rate", KIND_REAL, AT(rate), "0", 0, 1e12, NULL},
    {"behind_s", KIND_REAL, AT(behind_s), "0", 0, 3600, NULL},
    {"arrival", KIND_CHOICE, AT(arrival), "constant", 0, 0, arrivals},
    {"seed", KIND_WHOLE, AT(seed), "1", 0, 9e15, NULL},
    {"arrival_seed", KIND_WHOLE, AT(arrival_seed), "0", 0, 9e15, NULL},
    {"start_ms", KIND_WHOLE, AT(start_ms), "1500000000000", 0, 9e15, NULL},
    {"step_ms", KIND_REAL, AT(step_ms), "1", 1e-6, 1e9, NULL},
    {"precision", KIND_CHOICE, AT(precision), "ms", 0, 0, precisions},
    {"values", KIND_TEXT, AT(values), "walk", 0, 0, NULL},
    {"period_rows", KIND_WHOLE, AT(period_rows), "100", 2, 1e9, NULL},
    {"decimals", KIND_TEXT, AT(decimals), NULL, 0, 0, NULL},
    {"text", KIND_CHOICE, AT(text_mode), "vocabulary", 0, 0, text_modes},
    {"sample_file", KIND_TEXT, AT(sample_file), NULL, 0, 0, NULL},
    {"sample_rows", KIND_WHOLE, AT(sample_rows), "0", 0, 1e9, NULL},
    {"sample_period", KIND_WHOLE, AT(sample_period), "0", 0, 1e9, NULL},
    {"sample_times", KIND_WHOLE, AT(sample_times), "0", 0, 1, NULL},
    {"tags_file", KIND_TEXT, AT(tags_file), NULL, 0, 0, NULL},
    {"null_ratio", KIND_REAL, AT(null_ratio), "0", 0, 1, NULL},
    {"disorder", KIND_CHOICE, AT(disorder_mode), "swap", 0, 0, disorder_modes},
    {"disorder_ratio", KIND_REAL, AT(disorder_ratio), "0", 0, 100, NULL},
    {"disorder_range_ms", KIND_WHOLE, AT(disorder_range_ms), "1000", 1, 9e15, NULL},
    {"disorder_lambda", KIND_REAL, AT(disorder_lambda), "2200", 0.001, 1e6, NULL},
    {"disorder_max_k", KIND_WHOLE, AT(disorder_max_k), "170000", 1, 1e9, NULL},
    {"disorder_rows", KIND_WHOLE, AT(disorder_rows), "0", 0, 1e15, NULL},
    {"interval_s", KIND_REAL, AT(interval_s), "1", 0.01, 3600, NULL},
    {"max_errors", KIND_WHOLE, AT(max_errors), "100", 1, 1e15, NULL},
    {"retries", KIND_WHOLE, AT(retries), "0", 0, 1000, NULL},
    {"request_timeout_s", KIND_REAL, AT(request_timeout_s), "0", 0, 1e7, NULL},
    {"drain_s", KIND_REAL, AT(drain_s), "10", 0, 1e7, NULL},
    {"connect_timeout_s", KIND_REAL, AT(connect_timeout_s), "30", 0.1, 1e6, NULL},
    {"statement_timeout_s", KIND_REAL, AT(statement_timeout_s), "3600", 0.1, 1e7, NULL},
    {"start_at_ns", KIND_WHOLE, AT(start_at_ns), "0", 0, 9.2e18, NULL},
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

bool spec_peek(const char *text, const char *wanted, char *value, uint32_t size)
{
    char *copy = strdup(text), *rest = copy, *line;
    bool is_found = false;
    if (!copy)
        abort();
    while (!is_found && (line = strsep(&rest, "\n")) != NULL) {
        char *equals = strchr(line, '=');
        if (!equals || *trim(line) == '#')
            continue;
        *equals = '\0';
        if (strcmp(trim(line), wanted) == 0) {
            snprintf(value, size, "%s", trim(equals + 1));
            is_found = true;
        }
    }
    free(copy);
    return is_found;
}

static void set_whole(struct spec *spec, const struct key *key, const char *value,
                      struct mistakes *mistakes)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno)
        mistake_add(mistakes, key->name, "'%s' is not a whole number", value);
    else if ((double)number < key->least || (double)number > key->most)
        mistake_add(mistakes, key->name, "%s is outside %.0f..%.0f", value, key->least, key->most);
    else
        *(uint64_t *)((char *)spec + key->offset) = number;
}

static void set_real(struct spec *spec, const struct key *key, const char *value,
                     struct mistakes *mistakes)
{
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end)
        mistake_add(mistakes, key->name, "'%s' is not a number", value);
    else if (!(number >= key->least && number <= key->most))
        mistake_add(mistakes, key->name, "%s is outside %g..%g", value, key->least, key->most);
    else
        *(double *)((char *)spec + key->offset) = number;
}

static void set_choice(struct spec *spec, const struct key *key, const char *value,
                       struct mistakes *mistakes)
{
    char list[96] = "";
    for (uint64_t i = 0; key->choices[i]; i++) {
        if (strcmp(value, key->choices[i]) == 0) {
            *(uint64_t *)((char *)spec + key->offset) = i;
            return;
        }
        strcat(strcat(list, i ? ", " : ""), key->choices[i]);
    }
    mistake_add(mistakes, key->name, "'%s' is none of %s", value, list);
}

static void set_key(struct spec *spec, const struct key *key, const char *value,
                    struct mistakes *mistakes)
{
    switch (key->kind) {
    case KIND_TEXT:
        *(const char **)((char *)spec + key->offset) = value;
        break;
    case KIND_WHOLE:
        set_whole(spec, key, value, mistakes);
        break;
    case KIND_REAL:
        set_real(spec, key, value, mistakes);
        break;
    case KIND_CHOICE:
        set_choice(spec, key, value, mistakes);
        break;
    }
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static void refuse_unknown(const char *name, struct mistakes *mistakes)
{
    const char *names[KEY_COUNT];
    for (size_t i = 0; i < KEY_COUNT; i++)
        names[i] = keys[i].name;
    const char *nearest = nearest_name(name, names, KEY_COUNT);
    if (nearest)
        mistake_add(mistakes, name, "unknown key; did you mean '%s'?", nearest);
    else
        mistake_add(mistakes, name, "unknown key");
}

static void add_option(struct spec_option *list, uint32_t *count, uint32_t most,
                       struct spec_option option, struct mistakes *mistakes)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(list[i].name, option.name) == 0) {
            mistake_add(mistakes, option.name, "given twice");
            return;
        }
    if (*count < most)
        list[(*count)++] = option;
    else
        mistake_add(mistakes, option.name, "more than %u keys of its kind", most);
}

void spec_read(struct spec *spec, char *text, spec_is_option *is_option, const void *context,
               struct mistakes *mistakes)
{
    bool seen[KEY_COUNT] = {false};
    char *rest = text, *line;
    memset(spec, 0, sizeof *spec);
    spec->text = text;
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (keys[i].initial)
            set_key(spec, &keys[i], keys[i].initial, mistakes);
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *name = trim(line);
        char *equals = strchr(name, '=');
        if (*name == '\0' || *name == '#')
            continue;
        if (!equals) {
            mistake_add(mistakes, name, "a line should read key=value");
            continue;
        }
        *equals = '\0';
        name = trim(name);
        const char *value = trim(equals + 1);
        const struct key *key = find_key(name);
        if (!key && is_option(context, name))
            add_option(spec->options, &spec->option_count, SPEC_OPTIONS_MAX,
                       (struct spec_option){name, value}, mistakes);
        else if (strncmp(name, "ask.", 4) == 0)
            add_option(spec->asks, &spec->ask_count, SPEC_ASKS_MAX,
                       (struct spec_option){name, value}, mistakes);
        else if (!key)
            refuse_unknown(name, mistakes);
        else if (seen[key - keys])
            mistake_add(mistakes, name, "given twice");
        else {
            seen[key - keys] = true;
            set_key(spec, key, value, mistakes);
        }
    }
}

const char *spec_option(const struct spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->option_count; i++)
        if (strcmp(spec->options[i].name, name) == 0)
            return spec->options[i].value;
    return NULL;
}

void spec_free(struct spec *spec)
{
    free(spec->text);
    spec->text = NULL;
}
