/* The least that a client of libtaos can do: asks a statement of each table in turn, fetches all
 * raw blocks, counts the rows, and keeps no times. Beside it bench/tdengine_reads.py shows what a
 * load generator adds to the client library.
 *
 *     bare_reads CONFIG_DIR PORT DATABASE ROUNDS BEFORE [AFTER TABLES]
 *
 * Without TABLES the statement is BEFORE; with it, BEFORE d0 AFTER .. BEFORE d<TABLES - 1> AFTER.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int taos_options(int option, const void *value, ...);
extern void *taos_connect(const char *host, const char *user, const char *password,
                          const char *database, uint16_t port);
extern void taos_close(void *taos);
extern void *taos_query(void *taos, const char *text);
extern int taos_errno(void *result);
extern const char *taos_errstr(void *result);
extern int taos_fetch_raw_block(void *result, int *rows, void **block);
extern void taos_free_result(void *result);

enum { OPTION_CONFIG_DIR = 3 };

static long ask(void *taos, const char *text)
{
    void *result = taos_query(taos, text), *block;
    int rows = 0;
    long count = 0;
    if (taos_errno(result) != 0) {
        fprintf(stderr, "%s: %s\n", text, taos_errstr(result));
        exit(1);
    }
    while (taos_fetch_raw_block(result, &rows, &block) == 0 && rows > 0)
        count += rows;
    taos_free_result(result);
    return count;
}

int main(int argc, char **argv)
{
    char text[512];
    if (argc != 6 && argc != 8)
        return 2;
    const int rounds = atoi(argv[4]), tables = argc == 8 ? atoi(argv[7]) : 0;
    long rows = 0;
    taos_options(OPTION_CONFIG_DIR, argv[1]);
    void *taos = taos_connect("localhost", "root", "taosdata", argv[3], (uint16_t)atoi(argv[2]));
    if (!taos) {
        fprintf(stderr, "cannot connect: %s\n", taos_errstr(NULL));
        return 1;
    }
    for (int round = 0; round < rounds; round++) {
        if (tables == 0)
            rows += ask(taos, argv[5]);
        for (int i = 0; i < tables; i++) {
            snprintf(text, sizeof text, "%sd%d%s", argv[5], i, argv[6]);
            rows += ask(taos, text);
        }
    }
    printf("rows %ld\n", rows);
    taos_close(taos);
    return 0;
}
