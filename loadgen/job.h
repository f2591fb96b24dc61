/* The start of every verb: spec and driver checked and opened, without connecting. */
#ifndef SCALE_JOB_H
#define SCALE_JOB_H

#include "drivers/driver.h"
#include "exitcode.h"
#include "guard.h"
#include "turns.h"

struct job {
    struct spec spec;
    struct schema schema;
    struct operations operations;
    struct turns turns;
    struct driver_setup setup;
    const struct driver_ops *ops;
    struct driver *driver;
};

bool job_subscribes(const struct job *job); /* the method has the feature */

/* EXIT_DONE, or the exit code after reporting. `job_read` checks the whole spec; `job_open` opens
 * the client library. */
enum exitcode job_read(struct job *job, const char *path, enum verb verb);
enum exitcode job_open(struct job *job, const char *path, enum verb verb);
void job_close(struct job *job);

/* Beyond a client library's own time, so that its message is reported. */
#define JOB_SLACK_S 1.0

double job_place_bound_s(const struct spec *spec);
double job_create_bound_s(const struct spec *spec);

/* Within their time; a signal of `signal_fd` (-1: none) ends the process. partition_of: one for
 * each table. */
enum exitcode job_place(struct job *job, uint32_t *partition_of, int signal_fd);

/* On both channels; returns the exit code that belongs to it. */
enum exitcode job_fault(const struct fault *fault, int64_t worker, enum exitcode otherwise);

/* After a wait that did not end: leaves the process, whose threads cannot be joined. `doing`: what
 * was waited for. */
_Noreturn void job_abandon(const struct job *job, enum guard_end why, const char *doing);

/* The verbs. */
enum exitcode verb_load(struct job *job);
enum exitcode verb_tables(struct job *job);
enum exitcode verb_rows(struct job *job);
enum exitcode verb_sums(struct job *job);
enum exitcode verb_names(struct job *job);
enum exitcode verb_sql(struct job *job, bool spec_on_stdin);

#endif
