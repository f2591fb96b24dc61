/* See asks.h. */
#include "asks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "digest.h"

enum { STREAM_READS = 3, KEY_BYTES = 128 };
enum { /* indexes of a request's random numbers; 0 chooses its operation */
       DRAW_FROM = 1,
       DRAW_VALUE = 2,
       DRAW_DEVICES = 1 << 16,
       DRAW_PLACES = 2 << 16
};

struct reading { /* the keys of one operation */
    const struct spec *spec;
    const char *name;
    struct mistakes *mistakes;
    unsigned before;
};

static const char *find(const struct reading *r, const char *part, char *key)
{
    snprintf(key, KEY_BYTES, "ask.%s.%s", r->name, part);
    for (uint32_t i = 0; i < r->spec->ask_count; i++)
        if (strcmp(r->spec->asks[i].name, key) == 0)
            return r->spec->asks[i].value;
    return NULL;
}

static double number(const struct reading *r, const char *part, double least, double otherwise)
{
    char key[KEY_BYTES], *end;
    const char *text = find(r, part, key);
    const double value = text ? strtod(text, &end) : otherwise;
    if (text && (end == text || *end || !isfinite(value)))
        mistake_add(r->mistakes, key, "'%s' is not a number", text);
    else if (text && value < least)
        mistake_add(r->mistakes, key, "%s is less than %g", text, least);
    else
        return value;
    return otherwise;
}

static int64_t units(const struct reading *r, const char *part, double otherwise)
{
    const double ms = number(r, part, 0, otherwise);
    const double value = ms * (double)spec_units_per_ms(r->spec);
    char key[KEY_BYTES];
    find(r, part, key);
    if (value > 9e18 || fabs(value - round(value)) > 1e-6 * value)
        mistake_add(r->mistakes, key, "%g ms is not a whole number of units of the precision", ms);
    return value > 9e18 ? 0 : llround(value);
}

static void refuse(const struct reading *r, const char *part, const char *words)
{
    char key[KEY_BYTES];
    find(r, part, key);
    mistake_add(r->mistakes, key, "%s", words);
}

/* Where ranges may begin: on multiples of the step from the start of the data. */
static void read_times(const struct reading *r, struct ask *ask)
{
    const struct spec *spec = r->spec;
    const int64_t per_ms = spec_units_per_ms(spec);
    const int64_t start = (int64_t)spec->start_ms * per_ms;
    const int64_t row = llround(spec->step_ms * (double)per_ms);
    const double length = (double)spec->rows_present * (double)row;
    const int64_t end = start + (length < 9e18 ? (int64_t)length : 0);
    const int64_t recent = units(r, "recent_ms", 0);
    ask->span = units(r, "span_ms", 0);
    ask->step = units(r, "step_ms", 0);
    ask->step = ask->step ? ask->step : row;
    if (r->mistakes->count > r->before)
        return;
    const uint32_t ends = marks_count(&ask->marks, MARK_TO) + marks_count(&ask->marks, MARK_UNTIL);
    if (ends && ask->span == 0)
        refuse(r, "span_ms", "is needed with {to}, and is more than 0");
    char key[KEY_BYTES];
    const bool is_within = find(r, "within_ms", key) != NULL;
    const int64_t within = units(r, "within_ms", 0);
    const double follows = number(r, "follows", 0, 0);
    ask->follows = follows != 0;
    if (follows > 1 || follows != floor(follows))
        refuse(r, "follows", "is 0 or 1");
    if (is_within || ask->follows) {
        ask->first = start;
        ask->choices = (uint64_t)(within / ask->step) + 1;
        return;
    }
    if (end == start &&
        (ends || marks_count(&ask->marks, MARK_FROM) || marks_count(&ask->marks, MARK_AT)))
        mistake_add(r->mistakes, "rows_present", "is needed: ask.%s.text has times", r->name);
    const int64_t last = end - (ask->span ? ask->span : row); /* the latest beginning */
    const int64_t steps = last > start ? (last - start) / ask->step : 0;
    int64_t skipped =
        recent && end - recent > start ? (end - recent - start + ask->step - 1) / ask->step : 0;
    skipped = skipped < steps ? skipped : steps;
    ask->first = start + skipped * ask->step;
    ask->choices = (uint64_t)(steps - skipped) + 1;
}

static void read_value(const struct reading *r, struct ask *ask)
{
    ask->value_low = number(r, "value_low", -HUGE_VAL, 0);
    ask->value_high = number(r, "value_high", -HUGE_VAL, ask->value_low);
    ask->value_step = number(r, "value_step", 0, 0);
    if (ask->value_high < ask->value_low)
        refuse(r, "value_high", "is less than value_low");
}

static enum nothing read_nothing(const struct reading *r)
{
    char key[KEY_BYTES];
    const char *text = find(r, "empty", key);
    if (!text)
        return NOTHING_NO_ROW;
    if (strcmp(text, "null") == 0)
        return NOTHING_NULL;
    if (strcmp(text, "zero") != 0)
        mistake_add(r->mistakes, key, "'%s' is neither null nor zero", text);
    return NOTHING_ZERO;
}

static uint64_t digest_same(uint64_t word, uint64_t values)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < values; i++)
        digest = digest_word(digest, word);
    return digest_word(digest, DIGEST_ROW);
}

bool ask_is_empty(const struct ask *ask, const struct answer *answer)
{
    if (answer->rows != 1 || ask->nothing == NOTHING_NO_ROW)
        return answer->rows == 0;
    return answer->digest == digest_same(DIGEST_NULL, answer->values) ||
           (ask->nothing == NOTHING_ZERO && answer->digest == digest_same(0, answer->values));
}

struct ask *ask_read(const struct spec *spec, const char *name, struct mistakes *mistakes)
{
    const struct reading r = {spec, name, mistakes, mistakes->count};
    char key[KEY_BYTES], why[160];
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask)
        abort();
    ask->text = find(&r, "text", key);
    if (!ask->text || !*ask->text) {
        mistake_add(mistakes, "operations",
                    "'%s' is not an operation of this program: write, or one with %s", name, key);
    } else if (!marks_read(&ask->marks, ask->text, why, sizeof why)) {
        mistake_add(mistakes, key, "%s", why);
    } else if (spec->rounds) {
        if (marks_count(&ask->marks, MARK_ITEM) < ask->marks.parameter_count)
            mistake_add(mistakes, key, "{item} is the only mark with rounds: nothing is drawn");
    } else if (marks_count(&ask->marks, MARK_ITEM)) {
        mistake_add(mistakes, key, "{item} needs rounds");
    } else {
        read_times(&r, ask);
        read_value(&r, ask);
        if (marks_count(&ask->marks, MARK_PART) && !marks_count(&ask->marks, MARK_DEVICE))
            refuse(&r, "text", "has {part} and no {device}");
        if (marks_count(&ask->marks, MARK_DEVICE) > spec->tables)
            mistake_add(mistakes, key, "more {device} than the %llu tables",
                        (unsigned long long)spec->tables);
    }
    ask->stream = digest_fnv(DIGEST_FNV_START, name, strlen(name));
    ask->nothing = read_nothing(&r);
    ask->before = find(&r, "before", key);
    ask->result = find(&r, "result", key);
    if (ask->result && !spec->rounds)
        mistake_add(mistakes, key, "needs rounds");
    if (mistakes->count == r.before)
        return ask;
    free(ask);
    return NULL;
}

uint64_t ask_hash(const struct spec *spec, uint32_t worker, uint64_t request)
{
    const uint64_t seed = spec->read_seed ? spec->read_seed : spec->seed;
    return chance_of(chance_of(chance_of(seed, STREAM_READS), worker), request);
}

__extension__ typedef unsigned __int128 wide;

static uint64_t draw_below(uint64_t hash, uint64_t number, uint64_t count)
{
    return (uint64_t)(((wide)chance_of(hash, number) * count) >> 64);
}

/* Different tables: a draw that is taken takes the one more choice that it has. */
static void draw_devices(struct drawn *drawn, uint32_t count, uint64_t tables, uint64_t hash)
{
    drawn->device_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t last = (uint32_t)(tables - count + i);
        uint32_t device = (uint32_t)draw_below(hash, DRAW_DEVICES + i, (uint64_t)last + 1);
        for (uint32_t j = 0; j < i; j++)
            if (drawn->devices[j] == device)
                device = last;
        const uint32_t place = (uint32_t)draw_below(hash, DRAW_PLACES + i, (uint64_t)i + 1);
        drawn->devices[i] = drawn->devices[place];
        drawn->devices[place] = device;
    }
}

static struct parameter parameter_of(const struct drawn *drawn, enum mark mark, uint32_t device)
{
    switch (mark) {
    case MARK_DEVICE:
        return (struct parameter){.is_table = true, .table = drawn->devices[device]};
    case MARK_PART:
        device -= device == drawn->device_count;
        return (struct parameter){
            .is_table = true, .is_part = true, .table = drawn->devices[device]};
    case MARK_AGAIN:
        return (struct parameter){.is_table = true, .table = drawn->devices[device - 1]};
    case MARK_TO:
        return (struct parameter){.type = TYPE_TIMESTAMP, .value = &drawn->to};
    case MARK_UNTIL:
        return (struct parameter){.type = TYPE_TIMESTAMP, .value = &drawn->until};
    case MARK_VALUE:
        return (struct parameter){.type = TYPE_DOUBLE, .value = &drawn->value};
    default:
        return (struct parameter){.type = TYPE_TIMESTAMP, .value = &drawn->from};
    }
}

/* Rounded to a float, so that it compares equally with columns of floats. */
static double draw_value(const struct ask *ask, uint64_t hash)
{
    const double range = ask->value_high - ask->value_low, step = ask->value_step;
    const double part = (double)(chance_of(hash, DRAW_VALUE) >> 11) / 9007199254740992.0;
    return (float)(ask->value_low +
                   (step > 0 ? step * floor(part * (floor(range / step) + 1)) : part * range));
}

void ask_draw(const struct ask *ask, const struct spec *spec, uint64_t request_hash,
              struct drawn *drawn)
{
    const uint64_t hash = chance_of(request_hash, ask->stream);
    uint32_t parameter = 0, device = 0;
    draw_devices(drawn, marks_count(&ask->marks, MARK_DEVICE), spec->tables, hash);
    drawn->from = ask->first + (int64_t)draw_below(hash, DRAW_FROM, ask->choices) * ask->step;
    drawn->to = drawn->from + ask->span;
    drawn->until = drawn->to - 1;
    drawn->value = draw_value(ask, hash);
    for (uint32_t i = 0; i < ask->marks.count; i++) {
        const enum mark mark = ask->marks.pieces[i].mark;
        if (mark == MARK_NONE)
            continue;
        drawn->parameters[parameter++] = parameter_of(drawn, mark, device);
        device += mark == MARK_DEVICE;
    }
}
