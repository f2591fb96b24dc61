/* See gate.h. */
#include "gate.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

void gate_init(struct gate *gate)
{
    *gate = (struct gate){.arrived_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gate_free(struct gate *gate)
{
    close(gate->arrived_fd);
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

bool gate_arrive(struct gate *gate, bool ready)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&gate->lock);
    gate->arrived++;
    gate->failed += !ready;
    if (write(gate->arrived_fd, &one, sizeof one) != sizeof one)
        abort();
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    const bool start = !gate->cancelled;
    pthread_mutex_unlock(&gate->lock);
    return start;
}

uint32_t gate_count(struct gate *gate, uint32_t *failed)
{
    pthread_mutex_lock(&gate->lock);
    const uint32_t arrived = gate->arrived;
    *failed = gate->failed;
    pthread_mutex_unlock(&gate->lock);
    return arrived;
}

void gate_open(struct gate *gate, bool start)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    gate->cancelled = !start;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}
