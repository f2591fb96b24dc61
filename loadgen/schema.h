/* The shape of a row: columns and tags with types and ranges of values. */
#ifndef SCALE_SCHEMA_H
#define SCALE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mistakes.h"

enum { COLUMNS_MAX = 4096, NAME_MAX_BYTES = 64 };

enum type {
    TYPE_BOOL,
    TYPE_TINYINT,
    TYPE_SMALLINT,
    TYPE_INT,
    TYPE_BIGINT,
    TYPE_UTINYINT,
    TYPE_USMALLINT,
    TYPE_UINT,
    TYPE_UBIGINT,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_TIMESTAMP,
    TYPE_BINARY,
    TYPE_NCHAR,
    TYPE_VARBINARY,
    TYPE_GEOMETRY,
    TYPE_JSON, /* tags only */
    TYPE_COUNT
};

enum law {
    LAW_WALK,
    LAW_RANDOM,
    LAW_CONSTANT,
    LAW_LINE,
    LAW_SINE,
    LAW_SQUARE,
    LAW_NORMAL,
    LAW_COUNT
};

struct column {
    char name[NAME_MAX_BYTES];
    enum type type;
    uint32_t length; /* n of binary(n); 0 for fixed types */
    uint32_t width;  /* bytes that one value takes in a batch */
    double low;      /* least value */
    double span;     /* greatest minus least */
    double steps;    /* per unit, to which values are rounded; 0: not */
    bool is_rounded; /* random values too: the spec has `decimals` */
    enum law law;    /* law of its values; see laws.h */
    uint64_t groups; /* values of a tag, by tags_group; 0: not limited */
    uint64_t before_next; /* successive tables with the same tag */
};

struct sample_file;
struct tags_file;

struct schema {
    uint32_t column_count;
    uint32_t tag_count;
    struct column *columns;
    struct column *tags;
    struct sample_file *sample; /* values of the rows; NULL: laws make them */
    struct tags_file *tags_file; /* file with the tags; NULL: they are made */
};

/* "current:float,name:binary(24)"; mistakes are reported under their keys. */
void schema_read(struct schema *schema, const char *columns, const char *tags,
                 struct mistakes *mistakes);
void schema_free(struct schema *schema);

/* Columns with a fraction, to 0..5 decimals; NULL: not. Mistakes under `decimals`. */
void schema_round(struct schema *schema, const char *decimals, struct mistakes *mistakes);

const char *type_name(enum type type);
bool type_is_text(enum type type); /* has a length per value */

/* As many digits as reading it back needs; returns the length. */
enum { TYPE_TEXT_BYTES = 40 };
size_t type_print(enum type type, const void *value, char out[TYPE_TEXT_BYTES]);

uint64_t schema_row_bytes(const struct schema *schema);

#endif
