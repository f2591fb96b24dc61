"""A dead server is the cause of a failed trial also where its connections ended a moment before its process."""

from types import SimpleNamespace

from runner.errors import ProvisionError, TargetError
from runner.trial import causes
from runner.trial.causes import with_cause

CLOSED = TargetError("it did not answer: Remote end closed connection")
ORDER = SimpleNamespace(disks=(), disk_free_min_bytes=0)


class Server:
    """Alive for so many questions; its log has four lines."""

    def __init__(self, questions):
        self.left = questions

    def alive(self):
        self.left -= 1
        return self.left >= 0

    def log_tail(self, _lines):
        return "started\nwarned\nwarned again\njava.lang.OutOfMemoryError: Java heap space\n"


def test_a_server_that_dies_is_the_cause_and_its_last_words_say_why():
    for questions in (0, 2):
        told = with_cause(CLOSED, Server(questions), ORDER)
        assert isinstance(told, ProvisionError)
        assert told.message.startswith("the server ended during the trial: warned | warned again | java.lang.OutOf")
        assert CLOSED.message in told.message


def test_a_server_that_lives_is_not_the_cause(monkeypatch):
    monkeypatch.setattr(causes, "ENDING_S", 0.1)
    assert with_cause(CLOSED, Server(1_000), ORDER) is CLOSED
