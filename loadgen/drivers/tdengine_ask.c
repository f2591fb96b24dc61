/* Queries of TDengine: the text of an operation with its marks filled in, sent through libtaos and
 * answered in raw blocks of columns, or through taosAdapter (taosadapter_ask.c). Without a digest
 * no value is looked at; what is held of an answer at once is one block. */
#include "tdengine_ask.h"

#include <stdlib.h>
#include <string.h>

#include "../digest.h"
#include "../marks.h"
#include "numbers.h"
#include "taosadapter.h"
#include "tdengine_topics.h"

struct tdengine_ask {
    struct marks marks;
};

enum outcome tdengine_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                                struct fault *fault)
{
    if (d->method == METHOD_TMQ ||
        strlen(text) + marks->parameter_count * TABLE_NAME_MAX < SQL_BYTES_MAX)
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "SPEC", "the text grows longer than %d bytes", SQL_BYTES_MAX);
    return OUTCOME_FATAL;
}

enum outcome tdengine_prepare(struct connection *c, uint32_t operation, const char *text,
                              struct fault *fault)
{
    struct tdengine_ask *ask;
    char why[128];
    if (c->consumer)
        return topics_prepare(c, text, fault);
    ask = calloc(1, sizeof *ask);
    if (!ask)
        return fault_no_memory(fault);
    c->asks[operation] = ask;
    if (!marks_read(&ask->marks, text, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

void tdengine_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
}

/* One parameter as text: a table's name, an item, a time in units of the precision, a number. */
static char *put_parameter(char *out, const struct driver *d, const struct parameter *parameter)
{
    int64_t time;
    double value;
    if (parameter->is_table)
        return out + tdengine_table_name(d, parameter->table, out);
    if (parameter->type == TYPE_BINARY) { /* an item */
        memcpy(out, parameter->value, (size_t)parameter->length);
        return out + parameter->length;
    }
    if (parameter->type == TYPE_TIMESTAMP) {
        memcpy(&time, parameter->value, sizeof time);
        return numbers_put_whole(out, time);
    }
    memcpy(&value, parameter->value, sizeof value);
    return numbers_put_double(out, value);
}

/* The statement, in the connection's text; returns its length. */
static size_t fill(struct connection *c, const struct marks *marks,
                   const struct parameter *parameters)
{
    char *out = c->text;
    for (uint32_t i = 0; i < marks->count; i++) {
        memcpy(out, marks->pieces[i].plain, marks->pieces[i].length);
        out += marks->pieces[i].length;
        if (marks->pieces[i].mark != MARK_NONE)
            out = put_parameter(out, c->driver, parameters++);
    }
    *out = '\0';
    return (size_t)(out - c->text);
}

/* What a query fails by is the query's own, where it does not pass by itself. */
static enum outcome query_fault(const struct libtaos *t, TAOS_RES *result, int code,
                                struct fault *fault)
{
    tdengine_fault(code, t->error_text(result), fault);
    return OUTCOME_ERROR;
}

static enum outcome read_blocks(const struct driver *d, TAOS_RES *result, struct answer *answer,
                                struct fault *fault)
{
    const struct libtaos *t = &d->taos;
    const int64_t ns = 1000000 / spec_units_per_ms(d->setup->spec);
    void *block;
    int rows = 0, code;
    while ((code = t->fetch_block(result, &rows, &block)) == 0 && rows > 0) {
        answer->rows += (uint64_t)rows;
        answer->values += (uint64_t)rows * (uint64_t)t->field_count(result);
        answer->bytes += raw_block_bytes(block);
        if (answer->wants_digest && !raw_block_take(block, ns, &answer->digest, answer->sink)) {
            fault_set(fault, FAULT_SERVER, "BLOCK", "libtaos gave a block of unknown layout");
            return OUTCOME_FATAL;
        }
    }
    answer->is_handed = answer->sink && code == 0;
    return code == 0 ? OUTCOME_OK : query_fault(t, result, code, fault);
}

enum outcome tdengine_ask(struct connection *c, uint32_t operation,
                          const struct parameter *parameters, uint64_t deadline_ns,
                          struct answer *answer, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->consumer)
        return topics_ask(c, answer, fault);
    const size_t length = fill(c, &c->asks[operation]->marks, parameters);
    if (c->adapter) {
        adapter_deadline(c, deadline_ns);
        return adapter_ask(c, c->text, length, answer, fault);
    }
    TAOS_RES *result = t->query(c->taos, c->text);
    const int code = t->error(result);
    enum outcome outcome = OUTCOME_OK;
    if (code != 0)
        outcome = query_fault(t, result, code, fault);
    else if (t->field_count(result) > 0)
        outcome = read_blocks(c->driver, result, answer, fault);
    t->free_result(result);
    return outcome;
}
