/* The last line of a load: decides outcome and exit code. */
#ifndef SCALE_SUMMARY_H
#define SCALE_SUMMARY_H

#include "exitcode.h"
#include "reporter.h"

enum exitcode summary_report(struct load *load, const struct worker *workers,
                             const struct report *report);

#endif
