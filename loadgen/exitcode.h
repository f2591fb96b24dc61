/* Exit codes, documented in docs/loadgen.md and by --help. */
#ifndef SCALE_EXITCODE_H
#define SCALE_EXITCODE_H

enum exitcode {
    EXIT_DONE = 0,         /* finished, every row acknowledged */
    EXIT_SPEC = 2,         /* bad spec or usage; nothing was started */
    EXIT_MISSING = 3,      /* driver or client library missing */
    EXIT_UNREACHABLE = 4,  /* cannot connect, or cannot place the tables */
    EXIT_FATAL = 5,        /* fatal while loading */
    EXIT_ERRORS = 6,       /* finished, but some rows were not acknowledged */
    EXIT_INTERNAL = 7,
    EXIT_LATE = 8,         /* ready after the common start */
    EXIT_INTERRUPTED = 130 /* SIGINT or SIGTERM; the summary was printed */
};

#endif
