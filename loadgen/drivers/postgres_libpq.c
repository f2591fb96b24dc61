/* Loads libpq, waits within deadlines, reads faults and acknowledgements. Without a deadline libpq
 * waits. With one all waiting is here, for room to send and for what the server sends, so that
 * neither side waits for the other. */
#include "postgres_libpq.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "../deadline.h"
#include "library.h"

enum outcome postgres_load_library(struct libpq *p, const char *wanted, struct fault *fault)
{
    static const char *const usual[] = {"libpq.so.5", "libpq.so", NULL};
    const struct symbol symbols[] = {
        {"PQconnectdbParams", &p->connect},
        {"PQstatus", &p->status},
        {"PQerrorMessage", &p->error},
        {"PQfinish", &p->finish},
        {"PQexec", &p->exec},
        {"PQsendQuery", &p->send_query},
        {"PQprepare", &p->prepare},
        {"PQsendQueryPrepared", &p->send_prepared},
        {"PQsetSingleRowMode", &p->single_row},
        {"PQgetResult", &p->get_result},
        {"PQresultStatus", &p->result_status},
        {"PQresultErrorMessage", &p->result_error},
        {"PQresultErrorField", &p->result_field},
        {"PQcmdTuples", &p->tuples_done},
        {"PQntuples", &p->row_count},
        {"PQnfields", &p->column_count},
        {"PQfname", &p->column_name},
        {"PQftype", &p->column_type},
        {"PQgetvalue", &p->value},
        {"PQgetlength", &p->length},
        {"PQgetisnull", &p->is_null},
        {"PQclear", &p->clear},
        {"PQputCopyData", &p->put_data},
        {"PQputCopyEnd", &p->put_end},
        {"PQgetCopyData", &p->get_data},
        {"PQfreemem", &p->free_data},
        {"PQsetnonblocking", &p->set_nonblocking},
        {"PQsocket", &p->socket},
        {"PQflush", &p->flush},
        {"PQisBusy", &p->is_busy},
        {"PQconsumeInput", &p->consume},
        {"PQlibVersion", &p->lib_version},
    };
    p->handle = library_open(wanted, usual, "name it with library=", fault);
    if (!p->handle ||
        !library_find(p->handle, symbols, sizeof symbols / sizeof *symbols, "", fault))
        return OUTCOME_FATAL;
    library_path_of(&p->connect, p->path, sizeof p->path);
    const int version = p->lib_version();
    snprintf(p->version, sizeof p->version, "%d.%d", version / 10000, version % 10000);
    return OUTCOME_OK;
}

enum outcome postgres_fault(const struct libpq *p, PGconn *conn, const PGresult *result,
                            struct fault *fault)
{
    const char *state = result ? p->result_field(result, FIELD_SQLSTATE) : NULL;
    const char *message = result ? p->result_error(result) : NULL;
    const bool is_broken = p->status(conn) != CONNECTION_GOOD;
    if (!message || !*message)
        message = p->error(conn);
    fault_set(fault, FAULT_SERVER,
              state       ? state
              : is_broken ? "CONNECTION"
                          : "LIBPQ",
              "%s", message && *message ? message : "no answer that libpq understands");
    return is_broken ? OUTCOME_FATAL : OUTCOME_ERROR;
}

/* 0: late or broken. */
static short wait_for(struct connection *c, short events)
{
    const struct libpq *p = &c->driver->libpq;
    const short ready = deadline_poll(c->deadline_ns, p->socket(c->conn), events);
    c->is_late = ready == 0;
    if ((ready & POLLIN) && !p->consume(c->conn))
        return 0;
    return ready;
}

PGresult *postgres_next_result(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    while (c->deadline_ns && p->is_busy(c->conn))
        if (!wait_for(c, POLLIN)) {
            if (c->is_late)
                return NULL;
            break; /* broken: libpq's next result says so */
        }
    return p->get_result(c->conn);
}

enum outcome postgres_take_answer(struct connection *c, uint64_t *rows_acked, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    enum outcome outcome = OUTCOME_ERROR;
    bool has_fault = false;
    PGresult *result;
    while ((result = postgres_next_result(c)) != NULL) {
        if (p->result_status(result) == RES_COMMAND) {
            *rows_acked = strtoull(p->tuples_done(result), NULL, 10);
            outcome = has_fault ? OUTCOME_ERROR : OUTCOME_OK;
        } else if (!has_fault) {
            outcome = postgres_fault(p, c->conn, result, fault);
            has_fault = true;
        }
        p->clear(result);
    }
    if (outcome == OUTCOME_ERROR && !has_fault)
        outcome = postgres_fault(p, c->conn, NULL, fault);
    return p->status(c->conn) == CONNECTION_GOOD ? outcome : OUTCOME_FATAL;
}

bool postgres_begin(struct connection *c, uint64_t deadline_ns)
{
    c->deadline_ns = deadline_ns;
    c->is_late = false;
    return c->driver->libpq.set_nonblocking(c->conn, deadline_ns != 0) == 0;
}

bool postgres_flush(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    int is_left = 0;
    while (c->deadline_ns && (is_left = p->flush(c->conn)) == 1)
        if (!wait_for(c, POLLIN | POLLOUT))
            return false;
    return is_left == 0;
}
