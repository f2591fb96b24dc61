/* Waiting that ends at a deadline, for drivers, which read no clock themselves. A deadline is a
 * time of CLOCK_MONOTONIC in nanoseconds; 0: there is none, a wait is as long as it takes.
 * It decides nothing: what a late request means is the driver door's (drivers/driver.h). */
#ifndef SCALE_DEADLINE_H
#define SCALE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* So many seconds from now. */
uint64_t deadline_after_s(uint32_t seconds);

/* Waits for events of poll() on `fd`; returns those that came, POLLERR and POLLHUP among them.
 * 0: the deadline has passed, also when something is ready: who sends for ever ends as well. */
short deadline_poll(uint64_t deadline_ns, int fd, short events);

/* Sleeps; false when the deadline came first, and then no longer than until it. */
bool deadline_sleep_us(uint64_t deadline_ns, uint64_t us);

#endif
