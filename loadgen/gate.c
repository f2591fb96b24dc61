/* The starting gate; see gate.h. */
#include "gate.h"

void gate_init(struct gate *gate)
{
    *gate = (struct gate){.arrived = 0};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gate_free(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

bool gate_arrive(struct gate *gate, bool ready)
{
    pthread_mutex_lock(&gate->lock);
    gate->arrived++;
    gate->failed += !ready;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    const bool start = !gate->cancelled;
    pthread_mutex_unlock(&gate->lock);
    return start;
}

uint32_t gate_wait(struct gate *gate, uint32_t count)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->arrived < count)
        pthread_cond_wait(&gate->changed, &gate->lock);
    const uint32_t failed = gate->failed;
    pthread_mutex_unlock(&gate->lock);
    return failed;
}

void gate_open(struct gate *gate, bool start)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    gate->cancelled = !start;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}
