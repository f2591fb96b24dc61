/* The outcome of a call through the driver door, and the fault that says why it is not OK. */
#ifndef SCALE_FAULT_H
#define SCALE_FAULT_H

#include <stdbool.h>

enum outcome {
    OUTCOME_OK,
    OUTCOME_ERROR, /* this request failed; the connection is good for the next one */
    OUTCOME_FATAL  /* nothing more can be done: the load stops */
};

enum fault_kind {
    FAULT_SERVER,  /* the server, or the way to it */
    FAULT_LIBRARY, /* the client library is missing, or lacks a symbol */
    FAULT_SPEC     /* the spec asks for what this driver cannot do */
};

struct fault {
    enum fault_kind kind;
    char code[32]; /* the server's own code, as SQLSTATE; a word of ours where it has none */
    char message[480];
    bool is_transient; /* passes by itself: worth trying again, whatever `retries` says */
    bool is_late;      /* no answer by the deadline: the request may be done, or not */
};

void fault_set(struct fault *fault, enum fault_kind kind, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The fault of a request without an answer by its deadline, code "deadline"; `stage`: how far it
 * had come. Returns OUTCOME_FATAL: the connection is good for `disconnect` only, and its rows are
 * unanswered. */
enum outcome fault_late(struct fault *fault, const char *stage);

/* The fault of a spec that asks for what this driver cannot do. Returns OUTCOME_FATAL. */
enum outcome fault_spec(struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The fault of a connection that broke, code "CONNECTION", or of its deadline. */
enum outcome fault_broken(struct fault *fault, bool is_late, const char *problem);

/* The fault of an allocation that failed. Returns OUTCOME_FATAL. */
enum outcome fault_no_memory(struct fault *fault);

#endif
