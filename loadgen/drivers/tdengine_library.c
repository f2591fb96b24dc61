/* Opens libtaos at run time; see tdengine.h. It calls nothing in it. The second
 * binding interface, taos_stmt2_*, is newer than 3.3.0.0 and not looked for. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tdengine.h"

static void *open_any(const char *wanted, struct fault *fault)
{
    static const char *const usual[] = {"libtaos.so", "libtaos.so.1"};
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
              "cannot find the client library libtaos.so; install TDengine's client, or name it "
              "with library=");
    return NULL;
}

struct symbol {
    const char *name;
    void *slot;
};

/* Addresses are stored without a cast between object and function pointers. */
static bool find_all(void *handle, const struct symbol *symbols, size_t count, struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address) {
            fault_set(fault, FAULT_LIBRARY, "SYMBOL",
                      "the client library lacks %s: is it libtaos of TDengine 3?",
                      symbols[i].name);
            return false;
        }
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return true;
}

enum outcome tdengine_load_library(struct libtaos *t, const char *wanted, struct fault *fault)
{
    Dl_info info;
    void *address;
    const struct symbol symbols[] = {
        {"taos_options", &t->options},
        {"taos_connect", &t->connect},
        {"taos_close", &t->close},
        {"taos_get_client_info", &t->client_info},
        {"taos_query", &t->query},
        {"taos_errno", &t->error},
        {"taos_errstr", &t->error_text},
        {"taos_affected_rows", &t->affected},
        {"taos_free_result", &t->free_result},
        {"taos_num_fields", &t->field_count},
        {"taos_fetch_fields", &t->fields},
        {"taos_fetch_row", &t->fetch_row},
        {"taos_fetch_lengths", &t->lengths},
        {"taos_get_db_route_info", &t->route},
        {"taos_get_tables_vgId", &t->tables_vgroup},
        {"taos_stmt_init", &t->stmt_init},
        {"taos_stmt_prepare", &t->stmt_prepare},
        {"taos_stmt_set_tbname", &t->stmt_table},
        {"taos_stmt_bind_param_batch", &t->stmt_bind},
        {"taos_stmt_add_batch", &t->stmt_add},
        {"taos_stmt_execute", &t->stmt_execute},
        {"taos_stmt_affected_rows_once", &t->stmt_affected},
        {"taos_stmt_errstr", &t->stmt_error},
        {"taos_stmt_close", &t->stmt_close},
        {"taos_schemaless_insert_raw", &t->schemaless},
    };
    t->handle = open_any(wanted, fault);
    if (!t->handle || !find_all(t->handle, symbols, sizeof symbols / sizeof *symbols, fault))
        return OUTCOME_FATAL;
    memcpy(&address, &t->connect, sizeof address);
    if (dladdr(address, &info) && info.dli_fname)
        snprintf(t->path, sizeof t->path, "%s", info.dli_fname);
    return OUTCOME_OK;
}
