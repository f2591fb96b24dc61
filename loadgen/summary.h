/* The last line of a load: what its workers and its reporter counted, as one event. It decides
 * the outcome and the exit code; it judges no number. */
#ifndef SCALE_SUMMARY_H
#define SCALE_SUMMARY_H

#include "exitcode.h"
#include "reporter.h"

enum exitcode summary_report(struct load *load, const struct worker *workers,
                             const struct report *report);

#endif
