/* Waiting that ends at a deadline: CLOCK_MONOTONIC in ns, 0 for none. */
#ifndef SCALE_DEADLINE_H
#define SCALE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

uint64_t deadline_after_s(uint32_t seconds);

uint64_t deadline_after_ms(uint64_t ms);

/* Each begun one counts; 0: it has passed. */
uint64_t deadline_left_ms(uint64_t deadline_ns);

/* Returns the events of poll() that came, also POLLERR and POLLHUP. 0: the deadline has passed,
 * even if something is ready. */
short deadline_poll(uint64_t deadline_ns, int fd, short events);

/* False: the deadline was earlier. */
bool deadline_sleep_until(uint64_t deadline_ns, uint64_t until_ns);

bool deadline_sleep_us(uint64_t deadline_ns, uint64_t us);

#endif
