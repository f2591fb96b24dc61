/* See turns.h. */
#include "turns.h"

#include <stdlib.h>
#include <string.h>

enum { STATEMENT_BYTES_MAX = 1000000, ITEMS_MAX = 100000000 };

static void add(struct turns *turns, uint32_t *room, const char *item)
{
    if (turns->count == *room) {
        *room = *room ? 2 * *room : 64;
        const char **items = realloc(turns->items, *room * sizeof *items);
        uint32_t *lengths = realloc(turns->lengths, *room * sizeof *lengths);
        if (!items || !lengths)
            abort();
        turns->items = items;
        turns->lengths = lengths;
    }
    turns->items[turns->count] = item;
    turns->lengths[turns->count++] = (uint32_t)strlen(item);
}

static void split(struct turns *turns, struct mistakes *mistakes)
{
    char *rest = turns->text, *line;
    uint32_t room = 0;
    while ((line = strsep(&rest, "\n")) != NULL && turns->count < ITEMS_MAX)
        if (*line)
            add(turns, &room, line);
    if (turns->count == 0)
        mistake_add(mistakes, "items", "the file has no line");
}

static void check_lengths(const struct turns *turns, const struct operations *operations,
                          struct mistakes *mistakes)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < turns->count; i++)
        longest = turns->lengths[i] > longest ? turns->lengths[i] : longest;
    for (uint32_t i = 0; i < operations->count; i++) {
        const struct ask *ask = operations->list[i].ask;
        const size_t marks = ask ? marks_count(&ask->marks, MARK_ITEM) : 0;
        if (ask && strlen(ask->text) + marks * longest > STATEMENT_BYTES_MAX)
            mistake_add(mistakes, "items", "ask.%s.text grows longer than %d bytes",
                        operations->list[i].name, STATEMENT_BYTES_MAX);
        if (marks && !turns->text)
            mistake_add(mistakes, "items", "is needed: ask.%s.text has {item}",
                        operations->list[i].name);
    }
}

void turns_read(struct turns *turns, const struct spec *spec, const struct operations *operations,
                struct mistakes *mistakes)
{
    if (!spec->rounds) {
        if (spec->items)
            mistake_add(mistakes, "items", "needs rounds");
        if (spec->round_interval_s > 0)
            mistake_add(mistakes, "round_interval_s", "needs rounds");
        return;
    }
    if (operations->has_write)
        mistake_add(mistakes, "rounds", "is for operations that ask, not for write");
    if (spec->items && !(turns->text = spec_load_text(spec->items)))
        mistake_add(mistakes, "items", "the file cannot be read");
    if (turns->text)
        split(turns, mistakes);
    check_lengths(turns, operations, mistakes);
    if (turns->count && spec->workers_total > turns->count)
        mistake_add(mistakes, "threads", "%llu workers cannot share %u items",
                    (unsigned long long)spec->workers_total, turns->count);
}

void turns_free(struct turns *turns)
{
    free(turns->items);
    free(turns->lengths);
    free(turns->text);
}

void turn_init(struct turn *turn, const struct turns *turns, const struct spec *spec,
               uint32_t operations, uint32_t worker)
{
    const uint32_t each = turns->count / (uint32_t)spec->workers_total;
    const uint32_t more = turns->count % (uint32_t)spec->workers_total;
    *turn = (struct turn){.items = 1};
    if (turns->count) {
        turn->first = worker * each + (worker < more ? worker : more);
        turn->items = each + (worker < more);
    }
    turn->end = spec->rounds * turn->items * operations;
}

bool turn_next(struct turn *turn, const struct turns *turns, const struct spec *spec,
               uint32_t operations)
{
    const uint64_t asks = turn->number / operations; /* number of the turn over all operations */
    uint64_t item = asks % turn->items;
    if (turn->number == turn->end)
        return false;
    if (spec->order == ORDER_PROGRESSIVE)
        item = asks / spec->rounds;
    turn->operation = (uint32_t)(turn->number % operations);
    turn->begins_round =
        turn->operation == 0 && (spec->order == ORDER_PROGRESSIVE || asks % turn->items == 0);
    if (turns->count) {
        turn->item = turns->items[turn->first + item];
        turn->length = (int32_t)turns->lengths[turn->first + item];
    }
    turn->number++;
    return true;
}
