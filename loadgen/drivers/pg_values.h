/* Values in PostgreSQL's binary format: most significant byte first. */
#ifndef SCALE_PG_VALUES_H
#define SCALE_PG_VALUES_H

#include <string.h>

#include "../batch.h"
#include "../spec.h"
#include "big_endian.h"

/* PostgreSQL counts microseconds from 2000-01-01. */
#define EPOCH_US 946684800000000ll

enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_VARCHAR = 1043,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700
};

enum { FORMAT_BINARY = 1 };

struct us_ratio { /* one is 1, the other 1 or 1000 */
    int64_t multiply, divide;
};

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline struct us_ratio pg_us_ratio(const struct spec *spec)
{
    const int64_t units = spec_units_per_ms(spec);
    return (struct us_ratio){.multiply = units < 1000 ? 1000 / units : 1,
                             .divide = units > 1000 ? units / 1000 : 1};
}

static inline int64_t pg_us(const struct us_ratio *us, int64_t time)
{
    return (us->divide == 1 ? time * us->multiply : time / 1000) - EPOCH_US;
}

/* A type that PostgreSQL lacks becomes the next larger one. */
uint32_t pg_wire_bytes(const struct column *column);

enum { PG_ARRAY_START_BYTES = 20 };

/* Writes what stands before the values of an array of one dimension; returns its end. */
uint8_t *pg_put_array_start(uint8_t *out, unsigned element, bool has_nulls, uint32_t rows);

/* Values `stride` apart; not for text. */
void pg_put_column(const struct us_ratio *us, uint8_t *out, size_t stride,
                   const struct column *column, const uint8_t *in, uint32_t n);

/* With its length before it; returns its end. */
uint8_t *pg_put_field(const struct us_ratio *us, uint8_t *out, const struct column *column,
                      const struct column_data *data, uint32_t row);

#endif
