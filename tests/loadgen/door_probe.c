/* Takes one required function after another out of a driver's table: the door must name it. */
#include <stdio.h>
#include <string.h>

#include "drivers/driver.h"

static const char *const methods[] = {"none", NULL};

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
static enum outcome connect_it(struct driver *d, uint32_t w, struct connection **c,
                               struct fault *f)
{
    (void)d, (void)w, (void)c, (void)f;
    return OUTCOME_OK;
}
static enum outcome send_it(struct connection *c, const struct batch *b, uint64_t *r,
                            struct fault *f)
{
    (void)c, (void)b, (void)r, (void)f;
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

#define WHOLE                                                                                   \
    {                                                                                           \
        .abi = DRIVER_ABI, .name = "whole", .methods = methods, .open = open_it,                \
        .place = place, .connect = connect_it, .send = send_it, .disconnect = disconnect,       \
        .close = close_it                                                                       \
    }

extern const struct driver_ops driver_null, driver_postgres, driver_tdengine;
const struct driver_ops driver_null = WHOLE;
const struct driver_ops driver_postgres = WHOLE;
const struct driver_ops driver_tdengine = WHOLE;

static int failures;

static void expect(const struct driver_ops *ops, const char *lack)
{
    const char *said = driver_lacks(ops);
    if (!said || !strstr(said, lack)) {
        printf("expected '%s', got '%s'\n", lack, said ? said : "nothing");
        failures++;
    }
}

#define WITHOUT(member)                                                                         \
    do {                                                                                        \
        struct driver_ops ops = WHOLE;                                                          \
        ops.member = NULL;                                                                      \
        expect(&ops, #member);                                                                  \
    } while (0)

int main(void)
{
    struct driver_ops other = WHOLE;
    other.abi = DRIVER_ABI + 1;
    expect(&other, "abi");
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
