"""One error tree, one exit code each; the only exceptions that reach the user."""

EXIT_TRIALS_FAILED = 10
EXIT_SLOWER = 11
EXIT_DISAGREES = 12
EXIT_NOT_SHOWN = 13
EXIT_HOSTS_FAILED = 20  # and the number of hosts
HOSTS_COUNTED_MAX = 79
EXIT_INTERRUPTED = 130
# Every code with its meaning, for docs/commands.md.
EXIT_CODES = {
    0: "done; the report names each level without a VALID trial. `scale plan`: the sweep would begin",
    2: "a flag, key or file is wrong; nothing was started. `scale ab`, `scale compare`: the runs cannot be compared "
    "or judged by a gate",
    3: "this machine does not meet the requirements; nothing was started (`scale plan`: the sweep could not start). "
    "`scale dashboards up`: Prometheus or Grafana is missing",
    4: "the server did not start, or not as planned",
    5: "the load generator refused its input or failed",
    6: "results, or the standard output of another command than a sweep, cannot be written or read",
    7: "the database refused a setting or statement of the trial",
    EXIT_TRIALS_FAILED: "the sweep ended, but a trial is ABORTED, LOST_ROWS, WRONG_ROWS, WRONG_ANSWER or ERRORS, or "
    "a database has no VALID trial",
    EXIT_SLOWER: "a gate of `scale ab` or `scale compare`: B is slower than it accepts, or has no VALID trial where A "
    "has",
    EXIT_DISAGREES: "`scale verify`: the run disagrees with its raw files",
    EXIT_NOT_SHOWN: "`--same-within`, `--prove-not-slower`, `scale size`: the condition is not shown to hold",
    14: "`scale ab`, `scale compare`: too few trials of A or B are VALID to compare them: measure again",
    EXIT_HOSTS_FAILED: f"and the number of hosts whose run failed, {HOSTS_COUNTED_MAX} at most: `--each-server`, "
    "`--cluster`",
    EXIT_INTERRUPTED: "interrupted; finished trials are saved",
}


class ScaleError(Exception):
    """Base of all errors for the user: what happened, what to do, and the exit code."""

    exit_code = 1
    usual_remedy = ""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class UsageError(ScaleError):
    """Its message, or its remedy, ends with the one thing to do."""

    exit_code = 2


class CannotAsk(UsageError):
    """A target has no words for an operation. The message is its reason."""


class NotMeasuredError(ScaleError):
    exit_code = 14
    usual_remedy = "scale show RUN explains why trials are not VALID"


class PreflightError(ScaleError):
    exit_code = 3
    usual_remedy = "scale doctor shows what this machine can do"


class ProvisionError(ScaleError):
    exit_code = 4
    usual_remedy = "scale doctor shows what this machine can do; the server's log has details"


class LoadError(ScaleError):
    exit_code = 5
    usual_remedy = "scale doctor shows whether the load generator works; docs/loadgen.md explains its input"


class StoreError(ScaleError):
    exit_code = 6
    usual_remedy = "scale verify RUN names the files that were changed; give another run, or another directory"


class TargetError(ScaleError):
    exit_code = 7
    usual_remedy = "change the setting or the query; the message is the database's"
