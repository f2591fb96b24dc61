/* All reads of the clocks: ns of CLOCK_MONOTONIC. */
#ifndef SCALE_CLOCK_H
#define SCALE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define NS_PER_SECOND 1000000000ull
#define NS_PER_US 1000ull
#define NS_NEVER UINT64_MAX

uint64_t clock_now_ns(void);
int64_t clock_wall_ahead_ns(void); /* the wall clock, since 1970, minus clock_now_ns */
void clock_sleep_until_ns(uint64_t when_ns);  /* may return early when a signal arrives */
uint64_t clock_process_cpu_ns(void);
uint64_t clock_thread_cpu_ns(void);           /* the calling thread */
bool clock_cpu_of_thread_ns(pthread_t thread, uint64_t *ns); /* false: the thread has ended */
void clock_process_usage_s(double *user_s, double *system_s);
void clock_precise_sleep(void); /* the least timer slack in this thread */

#endif
