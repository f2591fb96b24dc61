/* The least that a client of libpq can do to insert rows in its pipeline mode: each request is
 * BEGIN, prepared INSERTs of 100 rows with binary values, COMMIT and a Sync, sent without waiting;
 * then all answers are read. The values of all requests are the same and are made before the clock
 * starts; only the times and the device change. bench/client_cost.py runs it beside scale-loadgen.
 *
 *     bare_pipeline HOST PORT ROWS DEVICES ROWS_PER_REQUEST START_MS PARTS
 *
 * ROWS_PER_REQUEST is a multiple of 100. The password is the environment's SCALE_PASSWORD. */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern void *PQconnectdbParams(const char *const *keys, const char *const *values, int expand);
extern int PQstatus(const void *conn);
extern char *PQerrorMessage(const void *conn);
extern void PQfinish(void *conn);
extern void *PQprepare(void *conn, const char *name, const char *text, int count,
                       const unsigned *types);
extern int PQenterPipelineMode(void *conn);
extern int PQsendQueryPrepared(void *conn, const char *name, int count, const char *const *values,
                               const int *lengths, const int *formats, int result_format);
extern int PQpipelineSync(void *conn);
extern void *PQgetResult(void *conn);
extern int PQresultStatus(const void *result);
extern char *PQcmdTuples(void *result);
extern void PQclear(void *result);

enum { CONNECTION_OK = 0, RES_COMMAND = 1, RES_PIPELINE_SYNC = 10 };

enum { ROWS = 100, VALUES = 5, PARAMETERS = ROWS * VALUES, BINARY = 1 };

enum { OID_INT4 = 23, OID_FLOAT4 = 700, OID_VARCHAR = 1043, OID_TIMESTAMP = 1114 };

#define EPOCH_US 946684800000000ll

struct statement { /* one INSERT: device, three values, and the time of each row */
    char device[16];
    uint32_t numbers[ROWS][3];
    uint64_t times[ROWS];
    const char *values[PARAMETERS];
    int lengths[PARAMETERS], formats[PARAMETERS];
};

static void fail(const void *conn)
{
    fprintf(stderr, "%s\n", PQerrorMessage(conn));
    exit(1);
}

static void check(void *conn, int is_good)
{
    if (!is_good)
        fail(conn);
}

static void prepare(void *conn, const char *name, const char *text, int count)
{
    static const unsigned of_row[VALUES] = {OID_VARCHAR, OID_FLOAT4, OID_INT4, OID_FLOAT4,
                                            OID_TIMESTAMP};
    unsigned types[PARAMETERS];
    for (int i = 0; i < count; i++)
        types[i] = of_row[i % VALUES];
    void *result = PQprepare(conn, name, text, count, types);
    check(conn, PQresultStatus(result) == RES_COMMAND);
    PQclear(result);
}

static void prepare_all(void *conn, int parts)
{
    char name[16], text[8192];
    prepare(conn, "begin", "BEGIN", 0);
    prepare(conn, "commit", "COMMIT", 0);
    for (int part = 0; part < parts; part++) {
        int used = snprintf(text, sizeof text,
                            "INSERT INTO \"measurement_p%d\" (device, current, voltage, phase, "
                            "timestamp) VALUES ",
                            part);
        for (int i = 0; i < PARAMETERS; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s$%d",
                             i % VALUES ? ", "
                             : i        ? "), ("
                                        : "(",
                             i + 1);
        snprintf(text + used, sizeof text - (size_t)used, ")");
        snprintf(name, sizeof name, "p%d", part);
        prepare(conn, name, text, PARAMETERS);
    }
}

static uint32_t wire_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return htobe32(bits);
}

static void make_values(struct statement *s)
{
    for (int row = 0; row < ROWS; row++) {
        s->numbers[row][0] = wire_float(8 + (float)row / 25);
        s->numbers[row][1] = htobe32((uint32_t)(110 + row));
        s->numbers[row][2] = wire_float((float)row / 100);
        const char **value = s->values + row * VALUES;
        int *length = s->lengths + row * VALUES;
        value[0] = s->device;
        for (int i = 0; i < 3; i++) {
            value[1 + i] = (const char *)&s->numbers[row][i];
            length[1 + i] = sizeof s->numbers[row][i];
        }
        value[4] = (const char *)&s->times[row];
        length[4] = sizeof s->times[row];
    }
    for (int i = 0; i < PARAMETERS; i++)
        s->formats[i] = BINARY;
}

/* Sets what differs between two statements. */
static void set_rows(struct statement *s, int device, int64_t first_ms)
{
    const int length = snprintf(s->device, sizeof s->device, "d%d", device);
    for (int row = 0; row < ROWS; row++) {
        s->lengths[row * VALUES] = length;
        s->times[row] = htobe64((uint64_t)(1000 * (first_ms + row) - EPOCH_US));
    }
}

/* Reads the answers to a request; returns the number of rows that the server inserted. */
static long take_answers(void *conn)
{
    long rows = 0;
    for (;;) {
        void *result = PQgetResult(conn);
        if (!result) /* between the answers to two statements */
            continue;
        const int status = PQresultStatus(result);
        check(conn, status == RES_COMMAND || status == RES_PIPELINE_SYNC);
        if (status == RES_COMMAND)
            rows += atol(PQcmdTuples(result));
        PQclear(result);
        if (status == RES_PIPELINE_SYNC)
            return rows;
    }
}

static long send_request(void *conn, struct statement *s, int rows, int device, int parts,
                         int64_t first_ms)
{
    char name[16];
    snprintf(name, sizeof name, "p%d", device % parts);
    check(conn, PQsendQueryPrepared(conn, "begin", 0, NULL, NULL, NULL, BINARY));
    for (int done = 0; done < rows; done += ROWS) {
        set_rows(s, device, first_ms + done);
        check(conn, PQsendQueryPrepared(conn, name, PARAMETERS, s->values, s->lengths, s->formats,
                                        BINARY));
    }
    check(conn, PQsendQueryPrepared(conn, "commit", 0, NULL, NULL, NULL, BINARY));
    check(conn, PQpipelineSync(conn));
    return take_answers(conn);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    static struct statement statement;
    if (argc != 8)
        return 2;
    const long rows = atol(argv[3]);
    const int devices = atoi(argv[4]), per_request = atoi(argv[5]), parts = atoi(argv[7]);
    const int64_t start_ms = atoll(argv[6]);
    const char *const keys[] = {"host", "port", "user", "dbname", "password", "sslmode", NULL};
    const char *const values[] = {argv[1],   argv[2], "admin", "qdb", getenv("SCALE_PASSWORD"),
                                  "disable", NULL};
    void *conn = PQconnectdbParams(keys, values, 0);
    check(conn, PQstatus(conn) == CONNECTION_OK);
    prepare_all(conn, parts);
    make_values(&statement);
    check(conn, PQenterPipelineMode(conn));
    const double begun = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    long inserted = 0;
    for (long n = 0; n < rows / per_request; n++)
        inserted += send_request(conn, &statement, per_request, (int)(n % devices), parts,
                                 start_ms + n / devices * per_request);
    printf("{\"cpu_s\": %.6f, \"elapsed_s\": %.6f}\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - used,
           seconds(CLOCK_MONOTONIC) - begun);
    PQfinish(conn);
    return inserted == rows ? 0 : 1;
}
