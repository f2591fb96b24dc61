/* See library.h. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *library_open(const char *wanted, const char *const *usual, const char *remedy,
                   struct fault *fault)
{
    if (wanted) {
        void *handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            fault_set(fault, FAULT_LIBRARY, "LIBRARY", "cannot open the client library '%s': %s",
                      wanted, dlerror());
        return handle;
    }
    for (const char *const *name = usual; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
    }
    fault_set(fault, FAULT_LIBRARY, "LIBRARY", "cannot find the client library %s; %s", usual[0],
              remedy);
    return NULL;
}

bool library_find(void *handle, const struct symbol *symbols, size_t count, const char *hint,
                  struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address) {
            fault_set(fault, FAULT_LIBRARY, "SYMBOL", "the client library lacks %s%s",
                      symbols[i].name, hint);
            return false;
        }
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return true;
}

void library_path_of(const void *slot, char *path, size_t size)
{
    Dl_info info;
    void *address;
    memcpy(&address, slot, sizeof address);
    snprintf(path, size, "%s", dladdr(address, &info) && info.dli_fname ? info.dli_fname : "");
}
