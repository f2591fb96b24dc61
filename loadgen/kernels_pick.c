/* Chooses the kernels for this CPU. SCALE_KERNELS=plain|avx2|avx512 selects one for tests. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

extern const struct kernels kernels_plain;

#ifdef SCALE_KERNELS_X86
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avx512;

const struct kernels *kernels_pick(void)
{
    const char *wanted = getenv("SCALE_KERNELS");
    if (!wanted)
        wanted = "avx512";
    __builtin_cpu_init();
    if (strcmp(wanted, "avx512") == 0 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return &kernels_avx512;
    if (strcmp(wanted, "plain") != 0 && __builtin_cpu_supports("avx2"))
        return &kernels_avx2;
    return &kernels_plain;
}
#else
const struct kernels *kernels_pick(void)
{
    return &kernels_plain;
}
#endif
