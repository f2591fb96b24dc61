/* Reads nanoseconds from standard input, prints quantiles and the encoding as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "histogram.h"

int main(void)
{
    static const double quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    struct histogram all, half;
    uint64_t value, n = 0;
    if (histogram_init(&all, 3) || histogram_init(&half, 3))
        return 1;
    while (scanf("%" SCNu64, &value) == 1)
        histogram_record(n++ % 2 ? &half : &all, value);
    histogram_add(&all, &half); /* recorded by two, merged: as by one */
    printf("{");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        if (histogram_quantile(&all, quantiles[i], &value))
            printf("\"%g\":%" PRIu64 ",", quantiles[i], value);
        else
            printf("\"%g\":null,", quantiles[i]);
    }
    char *hdr = histogram_encode(&all);
    printf("\"highest\":%" PRIu64 ",\"hdr\":\"%s\"}\n", histogram_highest_ns(&all), hdr);
    free(hdr);
    histogram_free(&all);
    histogram_free(&half);
    return 0;
}
