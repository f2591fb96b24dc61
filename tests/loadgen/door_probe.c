/* Takes one required function after another out of a driver's table, and joins features with
 * functions that do not belong together: the door must name what is lacking. */
#include <stdio.h>
#include <string.h>

#include "drivers/driver.h"

static const struct driver_method methods[] = {{"none", FEATURE_DEADLINE, NULL}, {NULL, 0, NULL}};
static const struct driver_method deep[] = {
    {"none", 0, NULL}, {"deep", FEATURE_DEPTH, NULL}, {NULL, 0, NULL}};
static const struct driver_method foreign[] = {{"none", 1u << FEATURE_COUNT, NULL},
                                               {NULL, 0, NULL}};
static const struct driver_method nothing[] = {{NULL, 0, NULL}};
static const struct driver_method formed[] = {{"one", 0, "1"}, {"two", 0, "2"}, {NULL, 0, NULL}};
static const struct driver_method formless_last[] = {
    {"one", 0, "1"}, {"two", 0, NULL}, {NULL, 0, NULL}};
static const struct driver_method formless_first[] = {
    {"one", 0, NULL}, {"two", 0, "2"}, {NULL, 0, NULL}};

static enum outcome open_it(const struct driver_setup *s, struct driver **d, struct fault *f)
{
    (void)s, (void)d, (void)f;
    return OUTCOME_OK;
}
static enum outcome place(struct driver *d, uint32_t *p, struct fault *f)
{
    (void)d, (void)p, (void)f;
    return OUTCOME_OK;
}
static enum outcome connect_it(struct driver *d, uint32_t w, struct connection **c, struct fault *f)
{
    (void)d, (void)w, (void)c, (void)f;
    return OUTCOME_OK;
}
static enum outcome send_it(struct connection *c, const struct batch *b, uint64_t d, uint64_t *r,
                            struct fault *f)
{
    (void)c, (void)b, (void)d, (void)r, (void)f;
    return OUTCOME_OK;
}
static enum outcome prepare(struct connection *c, uint32_t o, const char *t, struct fault *f)
{
    (void)c, (void)o, (void)t, (void)f;
    return OUTCOME_OK;
}
static enum outcome ask(struct connection *c, uint32_t o, const struct parameter *p, uint64_t d,
                        struct answer *a, struct fault *f)
{
    (void)c, (void)o, (void)p, (void)d, (void)a, (void)f;
    return OUTCOME_OK;
}
static enum outcome submit(struct connection *c, const struct batch *b, uint64_t t, uint64_t d,
                           struct fault *f)
{
    (void)c, (void)b, (void)t, (void)d, (void)f;
    return OUTCOME_OK;
}
static enum outcome complete(struct connection *c, uint64_t u, struct completion *d,
                             struct fault *f)
{
    (void)c, (void)u, (void)d, (void)f;
    return OUTCOME_OK;
}
static void disconnect(struct connection *c)
{
    (void)c;
}
static void close_it(struct driver *d)
{
    (void)d;
}

#define WHOLE                                                                                      \
    {.abi = DRIVER_ABI,                                                                            \
     .name = "whole",                                                                              \
     .methods = methods,                                                                           \
     .open = open_it,                                                                              \
     .place = place,                                                                               \
     .connect = connect_it,                                                                        \
     .send = send_it,                                                                              \
     .disconnect = disconnect,                                                                     \
     .close = close_it}

extern const struct driver_ops driver_cassandra, driver_clickhouse, driver_cratedb, driver_iotdb,
    driver_lines, driver_mariadb, driver_null, driver_pgarrays, driver_pgwire, driver_points,
    driver_postgres, driver_samples, driver_tdengine;
const struct driver_ops driver_cassandra = WHOLE;
const struct driver_ops driver_cratedb = WHOLE;
const struct driver_ops driver_iotdb = WHOLE;
const struct driver_ops driver_lines = WHOLE;
const struct driver_ops driver_clickhouse = WHOLE;
const struct driver_ops driver_mariadb = WHOLE;
const struct driver_ops driver_pgarrays = WHOLE;
const struct driver_ops driver_pgwire = WHOLE;
const struct driver_ops driver_points = WHOLE;
const struct driver_ops driver_null = WHOLE;
const struct driver_ops driver_postgres = WHOLE;
const struct driver_ops driver_samples = WHOLE;
const struct driver_ops driver_tdengine = WHOLE;

static int failures;

static void expect(const struct driver_ops *ops, const char *lack)
{
    const char *said = driver_lacks(ops);
    if (lack ? !said || !strstr(said, lack) : said != NULL) {
        printf("expected '%s', got '%s'\n", lack ? lack : "nothing", said ? said : "nothing");
        failures++;
    }
}

#define WITHOUT(member)                                                                            \
    do {                                                                                           \
        struct driver_ops ops = WHOLE;                                                             \
        ops.member = NULL;                                                                         \
        expect(&ops, #member);                                                                     \
    } while (0)

#define EXPECT_WITH(lack, ...)                                                                     \
    do {                                                                                           \
        struct driver_ops ops = WHOLE;                                                             \
        const struct driver_ops more = {__VA_ARGS__};                                              \
        ops.methods = more.methods ? more.methods : ops.methods;                                   \
        ops.prepare = more.prepare;                                                                \
        ops.ask = more.ask;                                                                        \
        ops.submit = more.submit;                                                                  \
        ops.complete = more.complete;                                                              \
        expect(&ops, lack);                                                                        \
    } while (0)

static void features_and_functions_belong_together(void)
{
    EXPECT_WITH("features of this program only", .methods = foreign);
    EXPECT_WITH("methods", .methods = nothing);
    EXPECT_WITH("form of a method", .methods = formless_last);
    EXPECT_WITH("form of a method", .methods = formless_first);
    EXPECT_WITH(NULL, .methods = formed);
    EXPECT_WITH("submit that its feature depth needs", .methods = deep);
    EXPECT_WITH("submit that its feature depth needs", .methods = deep, .complete = complete);
    EXPECT_WITH("complete that its feature depth needs", .methods = deep, .submit = submit);
    EXPECT_WITH("feature depth", .submit = submit, .complete = complete);
    EXPECT_WITH("feature depth", .complete = complete);
    EXPECT_WITH("prepare that its ask needs", .ask = ask);
    EXPECT_WITH("ask that its prepare needs", .prepare = prepare);
    EXPECT_WITH(NULL, .methods = deep, .submit = submit, .complete = complete);
    EXPECT_WITH(NULL, .prepare = prepare, .ask = ask);
}

static void a_late_request_is_fatal_and_named(void)
{
    struct fault fault;
    if (fault_late(&fault, "here") != OUTCOME_FATAL || !fault.is_late || fault.is_transient ||
        strcmp(fault.code, "deadline") != 0 || !strstr(fault.message, "here")) {
        puts("a late request is not what the door says");
        failures++;
    }
    fault_set(&fault, FAULT_SERVER, "CODE", "words");
    if (fault.is_late) {
        puts("the next fault is still late");
        failures++;
    }
}

int main(void)
{
    struct driver_ops other = WHOLE;
    other.abi = DRIVER_ABI - 1; /* of the version before */
    expect(&other, "abi");
    other.abi = DRIVER_ABI + 1;
    expect(&other, "abi");
    features_and_functions_belong_together();
    a_late_request_is_fatal_and_named();
    WITHOUT(methods);
    WITHOUT(open);
    WITHOUT(place);
    WITHOUT(connect);
    WITHOUT(send);
    WITHOUT(disconnect);
    WITHOUT(close);
    if (driver_lacks(&driver_null)) {
        puts("a whole driver is refused");
        failures++;
    }
    return failures;
}
