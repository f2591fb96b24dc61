/* See operations.h. */
#include "operations.h"

#include <stdlib.h>
#include <string.h>

#include "chance.h"

enum { WEIGHT_MAX = 1000000, NAME_BYTES_MAX = 64 };

static const char *const parts[] = {"text",      "span_ms",   "step_ms",    "recent_ms",
                                    "within_ms", "value_low", "value_high", "value_step",
                                    "follows",   "before",    "result",     "empty"};

static const struct operation *find(const struct operations *operations, const char *name,
                                    size_t length)
{
    for (uint32_t i = 0; i < operations->count; i++) {
        const char *known = operations->list[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return &operations->list[i];
    }
    return NULL;
}

static void add(struct operations *operations, const char *name, uint64_t weight,
                const struct spec *spec, struct mistakes *mistakes)
{
    const bool is_write = strcmp(name, "write") == 0;
    operations->list[operations->count++] = (struct operation){
        .name = name,
        .unit = is_write ? "rows" : "requests",
        .weight = weight,
        .ask = is_write ? NULL : ask_read(spec, name, mistakes),
    };
    operations->weights += weight;
    operations->has_write |= is_write;
    operations->has_ask |= !is_write;
}

static void read_one(struct operations *operations, char *name, const struct spec *spec,
                     struct mistakes *mistakes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char *end = "", *weight = strchr(name, ':');
    if (weight)
        *weight++ = '\0';
    const unsigned long number = weight ? strtoul(weight, &end, 10) : 1;
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_BYTES_MAX || strspn(name, plain) != length)
        mistake_add(mistakes, "operations",
                    "'%s' is not an operation of this program: a name has 1..%d letters, digits, _ "
                    "and -",
                    name, NAME_BYTES_MAX);
    else if (find(operations, name, length))
        mistake_add(mistakes, "operations", "'%s' stands there twice", name);
    else if (*end || (weight && (*weight < '0' || *weight > '9')) || number < 1 ||
             number > WEIGHT_MAX)
        mistake_add(mistakes, "operations", "the weight of '%s' is not a whole number of 1..%d",
                    name, WEIGHT_MAX);
    else if (operations->count == OPERATIONS_MAX)
        mistake_add(mistakes, "operations", "more than %d operations", OPERATIONS_MAX);
    else
        add(operations, name, number, spec, mistakes);
}

static void check_key(const struct operations *operations, const char *key,
                      struct mistakes *mistakes)
{
    const char *name = key + strlen("ask."), *dot = strrchr(name, '.');
    const size_t count = sizeof parts / sizeof *parts;
    size_t i = 0;
    while (dot && i < count && strcmp(parts[i], dot + 1) != 0)
        i++;
    if (!dot || i == count)
        mistake_add(
            mistakes, key,
            "unknown key: ask.NAME. goes before text, span_ms, step_ms, recent_ms, "
            "within_ms, value_low, value_high, value_step, follows, before, result or empty");
    else if (!find(operations, name, (size_t)(dot - name)))
        mistake_add(mistakes, key, "'%.*s' is not among the operations", (int)(dot - name), name);
}

void operations_read(struct operations *operations, const struct spec *spec,
                     struct mistakes *mistakes)
{
    *operations = (struct operations){.names = strdup(spec->operations)};
    char *rest = operations->names, *item;
    if (!operations->names)
        abort();
    while ((item = strsep(&rest, ",")) != NULL)
        read_one(operations, item, spec, mistakes);
    for (uint32_t i = 0; i < spec->ask_count; i++)
        check_key(operations, spec->asks[i].name, mistakes);
}

void operations_free(struct operations *operations)
{
    for (uint32_t i = 0; i < operations->count; i++)
        free(operations->list[i].ask);
    free(operations->names);
}

uint32_t operations_pick(const struct operations *operations, uint64_t hash)
{
    uint64_t at = chance_of(hash, 0) % operations->weights;
    uint32_t i = 0;
    while (at >= operations->list[i].weight)
        at -= operations->list[i++].weight;
    return i;
}

uint32_t operations_units(const struct operations *operations, const struct spec *spec)
{
    return operations->has_ask ? 1 : (uint32_t)spec->rows_per_request;
}
