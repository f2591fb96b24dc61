/* Reading the operations of a spec; see operations.h. */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct operation known[] = {{"write", "rows", 1}};

enum { KNOWN_COUNT = sizeof known / sizeof *known, WEIGHT_MAX = 1000000 };

static const struct operation *find(const struct operation *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* One "NAME" or "NAME:WEIGHT". */
static void read_one(struct operations *operations, char *name, struct mistakes *mistakes)
{
    char *end = "", *weight = strchr(name, ':');
    if (weight)
        *weight++ = '\0';
    const struct operation *kind = find(known, KNOWN_COUNT, name);
    const unsigned long number = weight ? strtoul(weight, &end, 10) : 1;
    if (!kind)
        mistake_add(mistakes, "operations", "'%s' is no operation of this program: write", name);
    else if (find(operations->list, operations->count, name))
        mistake_add(mistakes, "operations", "'%s' stands there twice", name);
    else if (*end || (weight && (*weight < '0' || *weight > '9')) || number < 1 ||
             number > WEIGHT_MAX)
        mistake_add(mistakes, "operations", "the weight of '%s' is no whole number of 1..%d", name,
                    WEIGHT_MAX);
    else {
        operations->list[operations->count] = *kind;
        operations->list[operations->count++].weight = number;
    }
}

void operations_read(struct operations *operations, const char *text, struct mistakes *mistakes)
{
    char *copy = strdup(text), *rest = copy, *item;
    operations->count = 0;
    if (!copy)
        abort();
    while ((item = strsep(&rest, ",")) != NULL)
        read_one(operations, item, mistakes);
    free(copy);
}
