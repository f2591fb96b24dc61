/* Loads libmariadb, and makes faults of its errors. */
#include "library.h"
#include "mariadb.h"

enum outcome maria_load_library(struct libmariadb *m, const char *wanted, struct fault *fault)
{
    static const char *const usual[] = {"libmariadb.so.3", NULL};
    const struct symbol symbols[] = {
        {"mysql_init", &m->init},
        {"mysql_options", &m->options},
        {"mysql_real_connect", &m->connect},
        {"mysql_close", &m->close},
        {"mysql_errno", &m->error_number},
        {"mysql_error", &m->error},
        {"mysql_sqlstate", &m->state},
        {"mysql_get_socket", &m->socket},
        {"mysql_real_query_start", &m->query_start},
        {"mysql_real_query_cont", &m->query_go_on},
        {"mysql_stmt_prepare_start", &m->prepare_start},
        {"mysql_stmt_prepare_cont", &m->prepare_go_on},
        {"mysql_stmt_execute_start", &m->execute_start},
        {"mysql_stmt_execute_cont", &m->execute_go_on},
        {"mysql_stmt_fetch_start", &m->fetch_start},
        {"mysql_stmt_fetch_cont", &m->fetch_go_on},
        {"mysql_affected_rows", &m->affected},
        {"mysql_warning_count", &m->warnings},
        {"mysql_fetch_fields", &m->fields},
        {"mysql_free_result", &m->free_result},
        {"mysql_get_client_info", &m->client_version},
        {"mysql_set_local_infile_handler", &m->set_infile},
        {"mysql_stmt_init", &m->stmt_init},
        {"mysql_stmt_attr_set", &m->stmt_set},
        {"mysql_stmt_bind_param", &m->stmt_bind},
        {"mysql_stmt_affected_rows", &m->stmt_affected},
        {"mysql_stmt_field_count", &m->stmt_columns},
        {"mysql_stmt_result_metadata", &m->stmt_result},
        {"mysql_stmt_bind_result", &m->stmt_bind_result},
        {"mysql_stmt_fetch_column", &m->stmt_fetch_column},
        {"mysql_stmt_free_result", &m->stmt_free},
        {"mysql_stmt_close", &m->stmt_close},
        {"mysql_stmt_errno", &m->stmt_error_number},
        {"mysql_stmt_error", &m->stmt_error},
        {"mysql_stmt_sqlstate", &m->stmt_state},
    };
    m->handle = library_open(wanted, usual, "install libmariadb3, or name it with library=", fault);
    if (!m->handle ||
        !library_find(m->handle, symbols, sizeof symbols / sizeof *symbols, "", fault))
        return OUTCOME_FATAL;
    library_path_of(&m->init, m->path, sizeof m->path);
    return OUTCOME_OK;
}

/* From 2000 on the client library's: the connection is of no more use. */
static enum outcome said(const struct connection *c, unsigned number, const char *state,
                         const char *words, struct fault *fault)
{
    enum { FIRST_OF_CLIENT = 2000, LAST_OF_CLIENT = 2999 };

    if (c->is_late)
        return fault_late(fault, "the server did not answer");
    fault_set(fault, FAULT_SERVER, state && *state ? state : "MARIADB", "%s",
              words && *words ? words : "no words from libmariadb");
    return number >= FIRST_OF_CLIENT && number <= LAST_OF_CLIENT ? OUTCOME_FATAL : OUTCOME_ERROR;
}

enum outcome maria_fault(struct connection *c, struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    return said(c, m->error_number(c->mysql), m->state(c->mysql), m->error(c->mysql), fault);
}

enum outcome maria_stmt_fault(struct connection *c, MYSQL_STMT *stmt, struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    return said(c, m->stmt_error_number(stmt), m->stmt_state(stmt), m->stmt_error(stmt), fault);
}
