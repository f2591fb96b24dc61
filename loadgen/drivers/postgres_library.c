/* Opens libpq at run time; see postgres.h. It calls nothing but PQlibVersion. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "postgres.h"

static void *open_any(const char *wanted, struct fault *fault)
{
    static const char *const usual[] = {"libpq.so.5", "libpq.so"};
    if (wanted) {
        void *handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            fault_set(fault, FAULT_LIBRARY, "LIBRARY", "cannot open the client library '%s': %s",
                      wanted, dlerror());
        return handle;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        void *handle = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
    }
    fault_set(fault, FAULT_LIBRARY, "LIBRARY",
              "cannot find the client library libpq.so.5 or libpq.so; name it with library=");
    return NULL;
}

/* A function's address, stored without a cast between object and function pointers. */
static bool find(void *handle, const char *name, void *function, struct fault *fault)
{
    void *address = dlsym(handle, name);
    if (!address) {
        fault_set(fault, FAULT_LIBRARY, "SYMBOL", "the client library lacks %s", name);
        return false;
    }
    memcpy(function, &address, sizeof address);
    return true;
}

enum outcome postgres_load_library(struct libpq *p, const char *wanted, struct fault *fault)
{
    Dl_info info;
    void *address;
    void *h = p->handle = open_any(wanted, fault);
    if (!h)
        return OUTCOME_FATAL;
    const bool complete = find(h, "PQconnectdbParams", &p->connect, fault) &&
                          find(h, "PQstatus", &p->status, fault) &&
                          find(h, "PQerrorMessage", &p->error, fault) &&
                          find(h, "PQfinish", &p->finish, fault) &&
                          find(h, "PQexec", &p->exec, fault) &&
                          find(h, "PQsendQuery", &p->send_query, fault) &&
                          find(h, "PQsetSingleRowMode", &p->single_row, fault) &&
                          find(h, "PQgetResult", &p->get_result, fault) &&
                          find(h, "PQresultStatus", &p->result_status, fault) &&
                          find(h, "PQresultErrorMessage", &p->result_error, fault) &&
                          find(h, "PQresultErrorField", &p->result_field, fault) &&
                          find(h, "PQcmdTuples", &p->tuples_done, fault) &&
                          find(h, "PQntuples", &p->row_count, fault) &&
                          find(h, "PQnfields", &p->column_count, fault) &&
                          find(h, "PQfname", &p->column_name, fault) &&
                          find(h, "PQftype", &p->column_type, fault) &&
                          find(h, "PQgetvalue", &p->value, fault) &&
                          find(h, "PQgetlength", &p->length, fault) &&
                          find(h, "PQgetisnull", &p->is_null, fault) &&
                          find(h, "PQclear", &p->clear, fault) &&
                          find(h, "PQputCopyData", &p->put_data, fault) &&
                          find(h, "PQputCopyEnd", &p->put_end, fault) &&
                          find(h, "PQlibVersion", &p->lib_version, fault);
    if (!complete)
        return OUTCOME_FATAL;
    memcpy(&address, &p->connect, sizeof address);
    if (dladdr(address, &info) && info.dli_fname)
        snprintf(p->path, sizeof p->path, "%s", info.dli_fname);
    const int version = p->lib_version();
    snprintf(p->version, sizeof p->version, "%d.%d", version / 10000, version % 10000);
    return OUTCOME_OK;
}
