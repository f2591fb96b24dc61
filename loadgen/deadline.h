/* Waiting that ends at a deadline, for drivers: a time of CLOCK_MONOTONIC in ns, 0 for none.
 * drivers/driver.h defines late requests. */
#ifndef SCALE_DEADLINE_H
#define SCALE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* The deadline so many seconds from now. */
uint64_t deadline_after_s(uint32_t seconds);

/* The deadline so many milliseconds from now. */
uint64_t deadline_after_ms(uint64_t ms);

/* Milliseconds until a deadline that is not 0, each begun one counted; 0: it has passed. */
uint64_t deadline_left_ms(uint64_t deadline_ns);

/* Waits for events of poll() on `fd`; returns those that came, also POLLERR and POLLHUP. 0: the
 * deadline has passed, even if something is ready. */
short deadline_poll(uint64_t deadline_ns, int fd, short events);

/* Sleeps until a time of CLOCK_MONOTONIC, or until the deadline if that is earlier (false). */
bool deadline_sleep_until(uint64_t deadline_ns, uint64_t until_ns);

/* Sleeps; false: the deadline came first, and it slept until then. */
bool deadline_sleep_us(uint64_t deadline_ns, uint64_t us);

#endif
