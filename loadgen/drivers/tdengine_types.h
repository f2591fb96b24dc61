/* TDengine's numbers of its types, as libtaos and raw blocks have them. */
#ifndef SCALE_TDENGINE_TYPES_H
#define SCALE_TDENGINE_TYPES_H

enum {
    T_BOOL = 1,
    T_TINYINT,
    T_SMALLINT,
    T_INT,
    T_BIGINT,
    T_FLOAT,
    T_DOUBLE,
    T_VARCHAR,
    T_TIMESTAMP,
    T_NCHAR,
    T_UTINYINT,
    T_USMALLINT,
    T_UINT,
    T_UBIGINT,
    T_JSON,
    T_VARBINARY,
    T_GEOMETRY = 20
};

#endif
