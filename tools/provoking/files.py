"""Makes the files of a case below one directory, each from a recipe: a mapping with `path` and the name of a maker.

Refuses a path outside of the directory.
"""

from __future__ import annotations

import base64
import json
import os
import random
import socket
import sqlite3
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.unit.stored_runs import contents

Recipe = Mapping[str, Any]


def make(folder: Path, recipes: tuple[Recipe, ...]) -> None:
    """Makes the files in their order. A recipe with `try` that no longer fits what others made is left out.

    Raises ValueError for an unknown maker or a path outside, OSError.
    """
    for recipe in recipes:
        path = Path(os.path.normpath(folder / recipe["path"]))
        if not path.is_relative_to(folder):
            raise ValueError(f"{recipe['path']} is not below the case's directory")
        (name,) = set(recipe) & set(MAKERS)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in CHANGES and not _can_be_changed(path):
                raise ValueError(f"{path} is no regular file, or too large to change")
            MAKERS[name](path, recipe)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            if not recipe.get("try"):
                raise


def _can_be_changed(path: Path) -> bool:
    seen = path.lstat()
    return stat.S_ISREG(seen.st_mode) and seen.st_size <= CHANGED_MAX


def _run(path: Path, recipe: Recipe) -> None:
    """A stored run of tests/unit/stored_runs.py under the recipe's path."""
    for name, content in contents(recipe["run"]).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def _text(path: Path, recipe: Recipe) -> None:
    _replace(path, recipe["text"].encode("utf-8", "surrogateescape"))


def _content(path: Path, recipe: Recipe) -> None:
    _replace(path, base64.b64decode(recipe["content"]))


def _repeat(path: Path, recipe: Recipe) -> None:
    """A text so many times, with a start, a middle behind it, and an end, which may come several times as well."""
    text = recipe.get("start", "") + recipe["repeat"] * recipe["times"] + recipe.get("middle", "")
    text += recipe.get("end", "") * recipe.get("end_times", 1)
    _replace(path, text.encode())


def _size(path: Path, recipe: Recipe) -> None:
    """A file grown by zeros that take no room on the disk."""
    if not path.is_file() or path.is_symlink():
        _replace(path, b"")
    with path.open("ab") as file:
        file.truncate(recipe["size"])


def _cut(path: Path, recipe: Recipe) -> None:
    """Keeps the first part of a file; cut is the share that stays."""
    content = path.read_bytes()
    _replace(path, content[: int(len(content) * recipe["cut"])])


def _flip(path: Path, recipe: Recipe) -> None:
    """Turns bits at random places of a file."""
    content, chance = bytearray(path.read_bytes()), random.Random(recipe.get("seed", 0))
    for _ in range(recipe["flip"]):
        if content:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    _replace(path, bytes(content))


def _set(path: Path, recipe: Recipe) -> None:
    """Puts a raw JSON text in the place of a value; set is the way to it, an empty way the document. first_line: of a
    file with a document in each line."""
    text = path.read_text(encoding="utf-8")
    first, rest = text.split("\n", 1) if recipe.get("first_line") else (text, "")
    document = json.loads(first)
    mark = "\u2402the value\u2402"
    if recipe["set"]:
        _parent(document, recipe["set"])[recipe["set"][-1]] = mark
    else:
        document = mark
    text = json.dumps(document, ensure_ascii=False).replace(json.dumps(mark, ensure_ascii=False), recipe["to"])
    _replace(path, (text + ("\n" + rest if rest else "")).encode("utf-8", "surrogatepass"))


def _drop(path: Path, recipe: Recipe) -> None:
    """Removes a key of a JSON document; drop is the way to it."""
    document = json.loads(path.read_text(encoding="utf-8"))
    del _parent(document, recipe["drop"])[recipe["drop"][-1]]
    _replace(path, json.dumps(document).encode())


def _parent(document: Any, way: list[Any]) -> Any:
    for step in way[:-1]:
        document = document[step]
    return document


def _swap(path: Path, recipe: Recipe) -> None:
    """Replaces a text of a file wherever it occurs."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape").replace(recipe["swap"], recipe["to"])
    _replace(path, text.encode("utf-8", "surrogateescape"))


def _fifo(path: Path, recipe: Recipe) -> None:
    _gone(path)
    os.mkfifo(path)


def _socket(path: Path, recipe: Recipe) -> None:
    _gone(path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _link(path: Path, recipe: Recipe) -> None:
    _gone(path)
    path.symlink_to(recipe["link"])


def _folder(path: Path, recipe: Recipe) -> None:
    _gone(path)
    path.mkdir()
    path.chmod(recipe["folder"] if isinstance(recipe["folder"], int) else 0o755)


def _mode(path: Path, recipe: Recipe) -> None:
    path.chmod(recipe["mode"])


def _gone_recipe(path: Path, recipe: Recipe) -> None:
    _gone(path)


def _sqlite(path: Path, recipe: Recipe) -> None:
    """An SQLite file after the recipe's statements."""
    with sqlite3.connect(path) as made:
        made.executescript(recipe["sqlite"])


def _replace(path: Path, content: bytes) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        _gone(path)
    path.write_bytes(content)


def _gone(path: Path) -> None:
    """Removes what has the name, also a directory with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        for child in path.iterdir():
            _gone(child)
        path.rmdir()
    elif path.is_symlink() or path.exists():
        path.unlink()


MAKERS: Mapping[str, Callable[[Path, Recipe], None]] = {
    "run": _run,
    "text": _text,
    "content": _content,
    "repeat": _repeat,
    "size": _size,
    "cut": _cut,
    "flip": _flip,
    "set": _set,
    "drop": _drop,
    "swap": _swap,
    "fifo": _fifo,
    "socket": _socket,
    "link": _link,
    "folder": _folder,
    "mode": _mode,
    "gone": _gone_recipe,
    "sqlite": _sqlite,
}
CHANGED_MAX = 64 << 20  # bytes: such a file is read whole
CHANGES = ("cut", "flip", "set", "drop", "swap", "mode")  # of a regular file that is there
