/* The start of every verb: the spec read and checked, the driver checked and opened. It connects to
 * nothing. */
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

/* Return EXIT_DONE, or the exit code after reporting. `job_read` checks the whole spec, also
 * against the driver; `job_open` opens the client library. */
enum exitcode job_read(struct job *job, const char *path, enum verb verb);
enum exitcode job_open(struct job *job, const char *path, enum verb verb);
void job_close(struct job *job);

/* Beyond a time that a client library keeps by itself, so that its own message is reported. */
#define JOB_SLACK_S 1.0

/* The times for placing and for creating the tables. */
double job_place_bound_s(const struct spec *spec);
double job_create_bound_s(const struct spec *spec);

/* Places the tables within their time; a signal of `signal_fd` (-1: none) ends the process.
 * partition_of: one for each table. */
enum exitcode job_place(struct job *job, uint32_t *partition_of, int signal_fd);

/* Tells a fault on both channels and gives the exit code that belongs to it. */
enum exitcode job_fault(const struct fault *fault, int64_t worker, enum exitcode otherwise);

/* The same for a wait that did not end: leaves the process, whose threads cannot be joined.
 * `doing`: what was waited for. */
_Noreturn void job_abandon(const struct job *job, enum guard_end why, const char *doing);

/* The verbs. */
enum exitcode verb_load(struct job *job);
enum exitcode verb_tables(struct job *job);
enum exitcode verb_rows(struct job *job);
enum exitcode verb_sums(struct job *job);
enum exitcode verb_names(struct job *job);
enum exitcode verb_sql(struct job *job, bool spec_on_stdin);

#endif
