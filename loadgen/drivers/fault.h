/* The outcome of a driver's call, and the fault that says why it is not OK. */
#ifndef SCALE_FAULT_H
#define SCALE_FAULT_H

#include <stdbool.h>

enum outcome {
    OUTCOME_OK,
    OUTCOME_ERROR, /* the connection is good for the next request */
    OUTCOME_FATAL  /* nothing more can be done: the load stops */
};

enum fault_kind {
    FAULT_SERVER,  /* the server, or the way to it */
    FAULT_LIBRARY, /* missing, or lacks a symbol */
    FAULT_SPEC
};

struct fault {
    enum fault_kind kind;
    char code[32]; /* the server's own, as SQLSTATE, or a word of ours */
    char message[480];
    bool is_transient; /* worth trying again, whatever `retries` says */
    bool is_late;      /* no answer by the deadline: it may be done, or not */
};

/* Returns OUTCOME_ERROR. */
enum outcome fault_set(struct fault *fault, enum fault_kind kind, const char *code,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Code "deadline"; `stage`: how far the request had come. Returns OUTCOME_FATAL: the connection is
 * good for `disconnect` only, its rows are unanswered. */
enum outcome fault_late(struct fault *fault, const char *stage);

/* The spec asks for what this driver cannot do. Returns OUTCOME_FATAL. */
enum outcome fault_spec(struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Code "CONNECTION", or fault_late. */
enum outcome fault_broken(struct fault *fault, bool is_late, const char *problem);

/* Returns OUTCOME_FATAL. */
enum outcome fault_no_memory(struct fault *fault);

#endif
