/* Faults of a load by kind: the first is reported at once, others are counted. */
#ifndef SCALE_FAULTS_H
#define SCALE_FAULTS_H

#include <pthread.h>

#include "drivers/driver.h"
#include "json.h"

enum { FAULT_KINDS_MAX = 16 };

struct fault_count {
    char code[sizeof(((struct fault *)0)->code)];
    char message[sizeof(((struct fault *)0)->message)];
    uint64_t count;
};

struct fault_book {
    pthread_mutex_t lock;
    uint32_t kinds;
    uint64_t others; /* kinds beyond those that are kept */
    struct fault_count counts[FAULT_KINDS_MAX];
};

void faults_init(struct fault_book *book);
void faults_free(struct fault_book *book);
void faults_note(struct fault_book *book, const struct fault *fault, int64_t worker);
/* When the load is over: kinds that came more than once, with their counts. */
void faults_report_totals(struct fault_book *book);
void faults_put(struct fault_book *book, struct json *json); /* the list for the summary */

#endif
