/* What the harnesses share: the bytes that a server or a client library answers, and the list of
 * harnesses. A harness is a pure function of its bytes: no file, no socket, no clock. */
#ifndef SCALE_FUZZ_H
#define SCALE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "job.h"

struct tape { /* the bytes of one run */
    const uint8_t *at, *end;
};
extern struct tape fuzz_tape;

size_t fuzz_left(void);
uint8_t fuzz_take8(void);    /* 0 behind the end */
uint32_t fuzz_take32(void);
/* At most so many bytes, in memory of exactly their number, with a zero behind if `ends`. */
uint8_t *fuzz_take_bytes(size_t most, int ends, size_t *length);

/* The spec of one run: spec_load_text returns a copy of it. */
extern const char *fuzz_spec;

struct harness {
    const char *name;
    const char *spec; /* spec of its driver; NULL: none is loaded */
    void (*run)(const struct harness *harness);
};
extern const struct harness fuzz_harnesses[]; /* ends with a name that is NULL */

/* One run on these bytes. False: there is no harness of this name. */
int fuzz_run(const char *name, const uint8_t *bytes, size_t size);

/* The harnesses. */
void fuzz_driver(const struct harness *harness); /* all calls of a driver, its server the tape */
void fuzz_spec_text(const struct harness *harness);
void fuzz_raw_block(const struct harness *harness);
void fuzz_words(const struct harness *harness);
void fuzz_remote_write(const struct harness *harness); /* rows are the tape's */

/* Puts a libpq into a driver of PostgreSQL whose answers are the tape. */
void fuzz_give_libpq(struct driver *driver);

#endif
