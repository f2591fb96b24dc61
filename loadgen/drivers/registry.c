/* See driver.h. */
#include <string.h>

#include "driver.h"

extern const struct driver_ops driver_cassandra;
extern const struct driver_ops driver_clickhouse;
extern const struct driver_ops driver_cratedb;
extern const struct driver_ops driver_iotdb;
extern const struct driver_ops driver_lines;
extern const struct driver_ops driver_mariadb;
extern const struct driver_ops driver_null;
extern const struct driver_ops driver_pgarrays;
extern const struct driver_ops driver_pgwire;
extern const struct driver_ops driver_points;
extern const struct driver_ops driver_postgres;
extern const struct driver_ops driver_samples;
extern const struct driver_ops driver_tdengine;

const struct driver_ops *const drivers[] = {
    &driver_cassandra, &driver_clickhouse, &driver_cratedb,  &driver_iotdb,  &driver_lines,
    &driver_mariadb,   &driver_null,       &driver_pgarrays, &driver_pgwire, &driver_points,
    &driver_postgres,  &driver_samples,    &driver_tdengine, NULL,
};

const char *const feature_names[FEATURE_COUNT] = {"deadline", "depth", "separable", "unanswered",
                                                  "subscribes"};

const struct driver_ops *driver_find(const char *name)
{
    for (size_t i = 0; drivers[i]; i++)
        if (strcmp(drivers[i]->name, name) == 0)
            return drivers[i];
    return NULL;
}

/* Names what features and optional functions lack of each other. */
static const char *lacks_together(const struct driver_ops *ops)
{
    uint32_t features = 0, methods = 0, forms = 0;
    for (const struct driver_method *m = ops->methods; m->name; m++, methods++) {
        features |= m->features;
        forms += m->form != NULL;
    }
    if (forms && forms != methods)
        return "form of a method: all methods have one, or none";
    if (features & ~(uint32_t)FEATURES_ALL)
        return "features of this program only";
    if ((features & FEATURE_DEPTH) && !ops->submit)
        return "submit that its feature depth needs";
    if ((features & FEATURE_DEPTH) && !ops->complete)
        return "complete that its feature depth needs";
    if (!(features & FEATURE_DEPTH) && (ops->submit || ops->complete))
        return "feature depth that its submit and complete need";
    if (ops->ask && !ops->prepare)
        return "prepare that its ask needs";
    if (ops->prepare && !ops->ask)
        return "ask that its prepare needs";
    return NULL;
}

const char *driver_lacks(const struct driver_ops *ops)
{
    if (ops->abi != DRIVER_ABI)
        return "abi of this program";
    if (!ops->methods || !ops->methods[0].name)
        return "methods";
    if (!ops->open)
        return "open";
    if (!ops->place)
        return "place";
    if (!ops->connect)
        return "connect";
    if (!ops->send)
        return "send";
    if (!ops->disconnect)
        return "disconnect";
    if (!ops->close)
        return "close";
    return lacks_together(ops);
}

static bool listed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool driver_has_option(const struct driver_ops *ops, const char *key)
{
    if (ops)
        return listed(ops->options, key);
    for (size_t i = 0; drivers[i]; i++)
        if (listed(drivers[i]->options, key))
            return true;
    return false;
}

const struct driver_method *driver_find_method(const struct driver_ops *ops, const char *name)
{
    for (const struct driver_method *m = ops->methods; m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}
