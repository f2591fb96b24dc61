/* Hands requests to the simulated server at the times on standard input, in ns, and prints when
 * each is answered. Arguments: the seed, and spec keys with their values. The clock is the probe's,
 * so the answers do not depend on the machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "simulated.h"

static uint64_t now_ns;

uint64_t clock_now_ns(void)
{
    return now_ns;
}

int main(int argc, char **argv)
{
    struct spec spec = {.seed = strtoull(argv[1], NULL, 10)};
    struct simulated *simulated = NULL;
    char why[160];
    for (int i = 2; i + 1 < argc; i += 2)
        spec.options[spec.option_count++] = (struct spec_option){argv[i], argv[i + 1]};
    if (!simulated_open(&spec, &simulated, why, sizeof why) || !simulated)
        return fprintf(stderr, "%s\n", simulated ? why : "no simulated server"), 1;
    while (scanf("%" SCNu64, &now_ns) == 1)
        printf("%" PRIu64 "\n", simulated_request(simulated, 10));
    simulated_close(simulated);
    return 0;
}
