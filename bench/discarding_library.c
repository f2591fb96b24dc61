/* libpq and libtaos of a server that takes all and does nothing, so that what is left is what our
 * own code costs. Every request is acknowledged with DISCARD_ROWS rows. With DISCARD_COPY the data
 * of COPY are copied once, as libpq does before it sends them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char any[1], zero[] = "0", copied[1 << 20];
static int is_copying, is_query;

static const char *rows_text(void)
{
    const char *rows = getenv("DISCARD_ROWS");
    return rows ? rows : "10000";
}

void *PQconnectdbParams(const char *const *k, const char *const *v, int e)
{
    (void)k, (void)v, (void)e;
    return any;
}
int PQstatus(const void *c)
{
    return (void)c, 0;
}
char *PQerrorMessage(const void *c)
{
    return (void)c, any;
}
void PQfinish(void *c)
{
    (void)c;
}
void *PQexec(void *c, const char *q)
{
    is_query = 1;
    return (void)c, (void)q, any;
}
int PQsendQuery(void *c, const char *q)
{
    is_query = 0;
    is_copying = 1;
    return (void)c, (void)q, 1;
}
int PQsetSingleRowMode(void *c)
{
    return (void)c, 1;
}
static int answers;
void *PQgetResult(void *c)
{
    (void)c;
    if (is_copying == 1)
        return is_copying = 2, any;
    return answers ? (answers = 0, any) : NULL;
}
int PQresultStatus(const void *r)
{
    return (void)r, is_query ? 2 : is_copying ? 4 : 1;
}
char *PQresultErrorMessage(const void *r)
{
    return (void)r, any;
}
char *PQresultErrorField(const void *r, int f)
{
    return (void)r, (void)f, any;
}
char *PQcmdTuples(void *r)
{
    return (void)r, (char *)rows_text();
}
int PQntuples(const void *r)
{
    return (void)r, 1;
}
int PQnfields(const void *r)
{
    return (void)r, 1;
}
char *PQfname(const void *r, int i)
{
    return (void)r, (void)i, zero;
}
unsigned PQftype(const void *r, int i)
{
    return (void)r, (void)i, 20;
}
char *PQgetvalue(const void *r, int i, int j)
{
    return (void)r, (void)i, (void)j, zero;
}
int PQgetlength(const void *r, int i, int j)
{
    return (void)r, (void)i, (void)j, 1;
}
int PQgetisnull(const void *r, int i, int j)
{
    return (void)r, (void)i, (void)j, 0;
}
void PQclear(void *r)
{
    (void)r;
}
int PQputCopyData(void *c, const char *data, int n)
{
    (void)c;
    if (getenv("DISCARD_COPY"))
        memcpy(copied, data, (size_t)n < sizeof copied ? (size_t)n : sizeof copied);
    return 1;
}
int PQputCopyEnd(void *c, const char *e)
{
    is_copying = 0;
    answers = 1;
    return (void)c, (void)e, 1;
}
int PQsetnonblocking(void *c, int on)
{
    return (void)c, (void)on, 0;
}
int PQsocket(const void *c)
{
    return (void)c, -1;
}
int PQflush(void *c)
{
    return (void)c, 0;
}
int PQisBusy(void *c)
{
    return (void)c, 0;
}
int PQconsumeInput(void *c)
{
    return (void)c, 1;
}
int PQlibVersion(void)
{
    return 160000;
}

struct route { /* more vgroups than tables: then the names are not asked about */
    int32_t version;
    int16_t prefix, suffix;
    int8_t hash_method;
    int32_t count;
    void *ranges;
};
int taos_options(int o, const void *v, ...)
{
    return (void)o, (void)v, 0;
}
void *taos_connect(const char *h, const char *u, const char *p, const char *d, uint16_t port)
{
    return (void)h, (void)u, (void)p, (void)d, (void)port, any;
}
void taos_close(void *t)
{
    (void)t;
}
const char *taos_get_client_info(void)
{
    return "discards";
}
void *taos_query(void *t, const char *s)
{
    return (void)t, (void)s, any;
}
int taos_errno(void *r)
{
    return (void)r, 0;
}
char *taos_errstr(void *r)
{
    return (void)r, any;
}
int taos_affected_rows(void *r)
{
    return (void)r, atoi(rows_text());
}
void taos_free_result(void *r)
{
    (void)r;
}
int taos_num_fields(void *r)
{
    return (void)r, 0;
}
void *taos_fetch_fields(void *r)
{
    return (void)r, NULL;
}
void *taos_fetch_row(void *r)
{
    return (void)r, NULL;
}
void *taos_fetch_lengths(void *r)
{
    return (void)r, NULL;
}
int taos_fetch_raw_block(void *r, int *n, void **b)
{
    return (void)r, (void)b, *n = 0;
}
int taos_get_db_route_info(void *t, const char *d, struct route *r)
{
    *r = (struct route){.count = 1 << 30};
    return (void)t, (void)d, 0;
}
int taos_get_tables_vgId(void *t, const char *d, const char **n, int c, int *v)
{
    return (void)t, (void)d, (void)n, (void)c, (void)v, 0;
}
void *taos_stmt_init(void *t)
{
    return (void)t, any;
}
int taos_stmt_prepare(void *s, const char *q, unsigned long n)
{
    return (void)s, (void)q, (void)n, 0;
}
int taos_stmt_set_tbname(void *s, const char *n)
{
    return (void)s, (void)n, 0;
}
int taos_stmt_bind_param_batch(void *s, void *b)
{
    return (void)s, (void)b, 0;
}
int taos_stmt_add_batch(void *s)
{
    return (void)s, 0;
}
int taos_stmt_execute(void *s)
{
    return (void)s, 0;
}
int taos_stmt_affected_rows_once(void *s)
{
    return (void)s, atoi(rows_text());
}
char *taos_stmt_errstr(void *s)
{
    return (void)s, any;
}
int taos_stmt_close(void *s)
{
    return (void)s, 0;
}
void *taos_schemaless_insert_raw(void *t, char *l, int n, int32_t *r, int p, int q)
{
    return (void)t, (void)l, (void)n, (void)r, (void)p, (void)q, NULL;
}
