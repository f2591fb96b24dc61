/* See window.h. */
#include "window.h"

#include "clock.h"

void window_begin_at(struct load *load, uint64_t tick_ns)
{
    if (tick_ns >= load->window_start_ns)
        return;
    if (load->window_end_ns != NS_NEVER)
        load->window_end_ns = load->window_end_ns - (load->window_start_ns - tick_ns);
    load->window_start_ns = tick_ns;
}

void window_end_at(struct load *load, uint64_t tick_ns)
{
    if (tick_ns < load->window_end_ns && load->window_end_ns != NS_NEVER)
        load->window_end_ns = tick_ns;
}
