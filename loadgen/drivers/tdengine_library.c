/* Opens libtaos at run time; see tdengine_parts.h. It calls nothing in it. The second
 * binding interface, taos_stmt2_*, is newer than 3.3.0.0 and not looked for. */
#include "library.h"
#include "tdengine_parts.h"

enum outcome tdengine_load_library(struct libtaos *t, const char *wanted, struct fault *fault)
{
    static const char *const usual[] = {"libtaos.so", "libtaos.so.1", NULL};
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
        {"taos_fetch_raw_block", &t->fetch_block},
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
    t->handle =
        library_open(wanted, usual, "install TDengine's client, or name it with library=", fault);
    if (!t->handle || !library_find(t->handle, symbols, sizeof symbols / sizeof *symbols,
                                    ": is it libtaos of TDengine 3?", fault))
        return OUTCOME_FATAL;
    library_path_of(&t->connect, t->path, sizeof t->path);
    return OUTCOME_OK;
}
