/* Where workers wait for each other before the load: it starts at one time, or is called off. */
#ifndef SCALE_GATE_H
#define SCALE_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t arrived, failed;
    bool open, cancelled;
    int arrived_fd; /* an eventfd: each arrival adds 1 */
};

void gate_init(struct gate *gate);
void gate_free(struct gate *gate);

/* ready: or failed to become so; returns true when the load starts. */
bool gate_arrive(struct gate *gate, bool ready);

uint32_t gate_count(struct gate *gate, uint32_t *failed);
void gate_open(struct gate *gate, bool start);

#endif
