/* libpq without a server: its results are read from the tape. Each value lies in memory of exactly
 * its length and a zero, as libpq gives it. */
#include <stdlib.h>
#include <string.h>

#include "drivers/postgres_libpq.h"
#include "fuzz.h"

enum { ROWS_MAX = 8, COLUMNS_MAX_HERE = 8, VALUE_BYTES_MAX = 64 };

struct pg_conn {
    int is_broken;
    int has_more; /* results to the last request */
};

struct pg_result {
    int status, rows, columns;
    char *text;
    unsigned types[COLUMNS_MAX_HERE];
    char *values[ROWS_MAX * COLUMNS_MAX_HERE]; /* NULL: an SQL NULL */
    int lengths[ROWS_MAX * COLUMNS_MAX_HERE];
};

static char *take_text(size_t most)
{
    size_t length;
    return (char *)fuzz_take_bytes(most, 1, &length);
}

static PGresult *take_result(PGconn *c)
{
    static const unsigned types[] = {16, 20, 21, 23, 25, 700, 701, 1114, 1184, 1700, 17, 26};
    PGresult *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    c->is_broken = fuzz_left() == 0;
    r->status = fuzz_take8() % 11;
    if (r->status == RES_COPY_IN && fuzz_take8() % 2)
        r->status = RES_COMMAND;
    r->text = take_text(fuzz_take8() % 32);
    r->rows = fuzz_take8() % (ROWS_MAX + 1);
    r->columns = fuzz_take8() % (COLUMNS_MAX_HERE + 1);
    for (int i = 0; i < r->columns; i++)
        r->types[i] = types[fuzz_take8() % (sizeof types / sizeof *types)];
    for (int i = 0; i < r->rows * r->columns; i++) {
        size_t length;
        const size_t most = fuzz_take8() % (VALUE_BYTES_MAX + 1);
        r->values[i] = most ? (char *)fuzz_take_bytes(most - 1, 1, &length) : NULL;
        r->lengths[i] = most ? (int)length : 0;
    }
    return r;
}

static PGconn *do_connect(const char *const *keys, const char *const *values, int expand)
{
    PGconn *c = calloc(1, sizeof *c);
    (void)keys, (void)values, (void)expand;
    if (!c)
        abort();
    c->is_broken = fuzz_left() == 0;
    return c;
}

static int do_status(const PGconn *c)
{
    return c->is_broken;
}

static char *do_error(const PGconn *c)
{
    static char words[] = "words of libpq\n";
    (void)c;
    return words;
}

static void do_finish(PGconn *c)
{
    free(c);
}

static PGresult *do_exec(PGconn *c, const char *text)
{
    (void)text;
    return take_result(c);
}

static int do_send_query(PGconn *c, const char *text)
{
    (void)text;
    c->has_more = 1 + fuzz_take8() % 3;
    return !c->is_broken;
}

static PGresult *do_prepare(PGconn *c, const char *name, const char *text, int count,
                            const unsigned *types)
{
    (void)name, (void)text, (void)count, (void)types;
    return take_result(c);
}

static int do_send_prepared(PGconn *c, const char *name, int count, const char *const *values,
                            const int *lengths, const int *formats, int format)
{
    (void)name, (void)count, (void)values, (void)lengths, (void)formats, (void)format;
    return do_send_query(c, name);
}

static int do_one(PGconn *c)
{
    return !c->is_broken;
}

static PGresult *do_get_result(PGconn *c)
{
    if (c->has_more == 0)
        return NULL;
    c->has_more--;
    return take_result(c);
}

static int do_result_status(const PGresult *r)
{
    return r ? r->status : RES_EMPTY;
}

static char *do_result_error(const PGresult *r)
{
    return r->text;
}

static char *do_result_field(const PGresult *r, int field)
{
    (void)field;
    return r->rows ? r->text : NULL;
}

static char *do_tuples_done(PGresult *r)
{
    return r->text;
}

static int do_row_count(const PGresult *r)
{
    return r ? r->rows : 0;
}

static int do_column_count(const PGresult *r)
{
    return r ? r->columns : 0;
}

static char *do_column_name(const PGresult *r, int column)
{
    return column < r->columns ? r->text : NULL;
}

static unsigned do_column_type(const PGresult *r, int column)
{
    return column < r->columns ? r->types[column] : 0;
}

static int is_inside(const PGresult *r, int row, int column)
{
    return row >= 0 && row < r->rows && column >= 0 && column < r->columns;
}

static char *do_value(const PGresult *r, int row, int column)
{
    static char nothing[1];
    if (!is_inside(r, row, column))
        return NULL;
    char *value = r->values[row * r->columns + column];
    return value ? value : nothing;
}

static int do_length(const PGresult *r, int row, int column)
{
    return is_inside(r, row, column) ? r->lengths[row * r->columns + column] : 0;
}

static int do_is_null(const PGresult *r, int row, int column)
{
    return !is_inside(r, row, column) || !r->values[row * r->columns + column];
}

static void do_clear(PGresult *r)
{
    for (int i = 0; r && i < r->rows * r->columns; i++)
        free(r->values[i]);
    if (r)
        free(r->text);
    free(r);
}

static int do_put_data(PGconn *c, const char *data, int length)
{
    (void)data, (void)length;
    return c->is_broken ? -1 : 1;
}

static int do_put_end(PGconn *c, const char *words)
{
    (void)words;
    c->has_more = 1;
    return c->is_broken ? -1 : 1;
}

static int do_get_data(PGconn *c, char **buffer, int async)
{
    (void)c, (void)async;
    *buffer = fuzz_take8() % 2 ? take_text(8) : NULL;
    return *buffer ? 1 : -1;
}

static int do_set_nonblocking(PGconn *c, int is_wanted)
{
    (void)c, (void)is_wanted;
    return 0;
}

static int do_socket(const PGconn *c)
{
    (void)c;
    return -1;
}

static int do_none(PGconn *c)
{
    (void)c;
    return 0;
}

void fuzz_give_libpq(struct driver *driver)
{
    driver->libpq = (struct libpq){
        .connect = do_connect,
        .status = do_status,
        .error = do_error,
        .finish = do_finish,
        .exec = do_exec,
        .send_query = do_send_query,
        .prepare = do_prepare,
        .send_prepared = do_send_prepared,
        .single_row = do_one,
        .get_result = do_get_result,
        .result_status = do_result_status,
        .result_error = do_result_error,
        .result_field = do_result_field,
        .tuples_done = do_tuples_done,
        .row_count = do_row_count,
        .column_count = do_column_count,
        .column_name = do_column_name,
        .column_type = do_column_type,
        .value = do_value,
        .length = do_length,
        .is_null = do_is_null,
        .clear = do_clear,
        .put_data = do_put_data,
        .put_end = do_put_end,
        .get_data = do_get_data,
        .free_data = free,
        .set_nonblocking = do_set_nonblocking,
        .socket = do_socket,
        .flush = do_none,
        .is_busy = do_none,
        .consume = do_one,
    };
}
