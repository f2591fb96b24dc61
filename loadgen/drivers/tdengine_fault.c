/* What an error code of TDengine means for a load: whether it passes by itself, so that the core
 * backs off and tries again, or cannot be mended by trying, so that the load stops. */
#include <stdio.h>

#include "tdengine_parts.h"

static bool is_transient(int code)
{
    static const int transient[] = {
        0x000B, 0x0018, 0x0019, 0x0020, 0x0021, /* connecting, broken, timed out, out of service */
        0x0023, 0x0024, /* the network fails, or is busy */
        0x0102, 0x0126, /* out of memory, in the queue of requests */
        0x0125, /* a table's description was renewed: send again */
        0x0130, 0x0131, /* the server is starting, or closing down */
        0x0386, 0x0396, 0x03D3, /* the database is being dropped, created, altered */
        0x0503, 0x0520, 0x0528, 0x0529, /* a vnode moved, has no buffer free, or stopped */
        0x090C, 0x0911, 0x0914, /* no leader, not ready to propose, restoring */
        0x0916, 0x0917, 0x0918, /* a replica is behind */
    };
    for (size_t i = 0; i < sizeof transient / sizeof *transient; i++)
        if (transient[i] == code)
            return true;
    return false;
}

enum outcome tdengine_fault(int code, const char *words, struct fault *fault)
{
    char text[16];
    const int low = code & 0xffff;
    snprintf(text, sizeof text, "0x%04X", (unsigned)low);
    fault_set(fault, FAULT_SERVER, text, "%s", words && *words ? words : "no words from libtaos");
    fault->is_transient = is_transient(low);
    return fault->is_transient ? OUTCOME_ERROR : OUTCOME_FATAL;
}
