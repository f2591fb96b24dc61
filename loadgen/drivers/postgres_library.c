/* Opens libpq at run time; see postgres.h. It calls nothing but PQlibVersion. */
#include <stdio.h>

#include "library.h"
#include "postgres.h"

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
