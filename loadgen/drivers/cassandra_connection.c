/* A connection to Cassandra: its first words, the statement that it inserts with, and its faults.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cassandra_parts.h"

enum outcome cassandra_broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "the server has not answered all that it was sent");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", stream->problem);
    return OUTCOME_ERROR;
}

enum outcome cassandra_refused(const struct cql_answer *answer, struct fault *fault)
{
    char code[16];
    snprintf(code, sizeof code, "0x%04X", answer->code);
    if (answer->opcode == CQL_ERROR)
        fault_set(fault, FAULT_SERVER, code, "%s", answer->words);
    else
        fault_set(fault, FAULT_SERVER, "PROTOCOL", "an answer of kind 0x%02X was not expected",
                  answer->opcode);
    return OUTCOME_ERROR;
}

enum outcome cassandra_reach(struct connection *c, struct fault *fault)
{
    static const char startup[] = "\0\1\0\13CQL_VERSION\0\0053.0.0";
    const struct driver *d = c->driver;
    struct cql_answer answer;
    struct cql_reader reader;
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    if (!stream_open(&c->stream, d->host, d->port) ||
        !cql_ask(&c->stream, CQL_STARTUP, startup, sizeof startup - 1, false, &answer)) {
        const enum outcome outcome = cassandra_broken(&c->stream, fault);
        fault->is_transient = outcome == OUTCOME_ERROR; /* no row was sent */
        return outcome;
    }
    if (answer.opcode == CQL_READY) {
        if (!cql_ask(&c->stream, CQL_PREPARE, d->insert, strlen(d->insert), true, &answer))
            return cassandra_broken(&c->stream, fault);
        if (cql_prepared(&answer, &c->insert, &reader))
            return OUTCOME_OK;
    }
    stream_close(&c->stream);
    return cassandra_refused(&answer, fault);
}

void cassandra_disconnect(struct connection *c)
{
    cassandra_free_asks(c);
    stream_free(&c->stream);
    free(c->body);
    free(c);
}

enum outcome cassandra_connect(struct driver *d, uint32_t worker, struct connection **connection,
                               struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->insert.length = 16; /* where nothing is sent */
    c->body = malloc(CASSANDRA_BODY_BYTES);
    if (!c->body) {
        cassandra_disconnect(c);
        return fault_no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && cassandra_reach(c, fault) != OUTCOME_OK) {
        cassandra_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}
