"""`config.toml`: what it may say, where each value comes from, and what is said of a wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from console import cli
from console.config import Colour, Config, ConfigError, Layer, load
from console.config.file import CONFIG_VARIABLE, LARGEST, default_path, parsed
from console.config.statements import LONGEST, TooLongError, lines_of
from console.config.titles import columns_of, shown_of
from console.lists import catalogue
from console.registry import registry_of

FILE = Path("config.toml")
CANARY = "canary-9f3a"
WHOLE = """
# The stores we look after.
context = "prod"
refresh = 5
read_only = true

[contexts.prod]
url = "postgresql://ops_ro@ledger-prod/agents"
label = "Ledger"
environment = "PROD"
colour = "red"
tenant = "acme"
refresh = 2.5
read_only = false
password_command = [
    "pass",
    "show", "ledger",
]

[contexts.local]
url = "sqlite:////var/lib/agents.db"

[columns]
threads = ["THREAD", "state", "AGE"]

[keys]
detail = "b"

[commands.logs]
key = "w"
scope = "threads"
capability = "read"
inputs = ["since"]
argv = ["journalctl", "--since={since}", "--grep={id}"]
limit = 20
"""


def config_of(text: str) -> Config:
    """What a file with this text says."""
    return parsed(text.encode(), FILE)


def refused(text: str) -> str:
    """What is said of a configuration, verbs and columns included."""
    with pytest.raises(ConfigError) as caught:
        _used(text)
    return str(caught.value)


def _used(text: str) -> None:
    whole = config_of(text)
    registry_of(whole)
    columns_of(whole, catalogue.titles())


def test_a_whole_file_is_read_with_the_line_of_each_value() -> None:
    config = config_of(WHOLE)
    prod, local = config.contexts["prod"], config.contexts["local"]
    assert (prod.url.value, prod.colour.value) == ("postgresql://ops_ro@ledger-prod/agents", Colour.RED)
    assert str(prod.environment.source) == "context config.toml:10 [contexts.prod]"
    assert prod.password_command is not None
    assert prod.password_command.value == ("pass", "show", "ledger")
    assert prod.password_command.source.place == "config.toml:15"
    assert config.refresh is not None
    assert (config.refresh.value, str(config.refresh.source)) == (5.0, "configuration file config.toml:4")
    assert (local.label.value, local.environment.value) == ("local", "LOCAL")
    assert local.label.source.layer is Layer.DEFAULT
    assert config.commands["logs"].limit == 20


def test_a_missing_file_says_nothing_and_one_that_was_named_must_be_there(tmp_path: Path) -> None:
    found = load(environ={})
    assert (found.file, found.looked_at, found.contexts) == (None, default_path(), {})
    with pytest.raises(ConfigError, match="no such file"):
        load(environ={CONFIG_VARIABLE: str(tmp_path / "none.toml")})
    with pytest.raises(ConfigError, match="no such file"):
        load(tmp_path / "none.toml", environ={})


def test_the_file_is_found_where_the_platform_keeps_such_files() -> None:
    default_path().parent.mkdir(parents=True)
    default_path().write_text('[contexts.a]\nurl = "postgresql://h/d"\n')
    assert set(load(environ={}).contexts) == {"a"}


CONTEXT = '[contexts.a]\nurl = "postgresql://h/d"\n'
COMMAND = '[commands.c]\nargv = ["date"]\ncapability = "read"\n'
WRONG = {
    "not TOML": ("a = ", "config.toml: is not TOML"),
    "an unknown key": ("\nrefesh = 2\n", "config.toml:2: refesh: no key 'refesh'; did you mean refresh?"),
    "an unknown key of a context": (
        CONTEXT + "color = 'red'",
        r"config.toml:3: \[contexts.a\] color: no key",
    ),
    "a colour": (CONTEXT + "colour = 'puce'", "config.toml:3: .*no colour 'puce'; there are amber, blue,"),
    "an environment": (CONTEXT + "environment = 'prod'", "config.toml:3: .*capitals"),
    "a refresh": (CONTEXT + "refresh = 0.1", "config.toml:3: .*a number of seconds from 0.5 to 60"),
    "a refresh that is true": (CONTEXT + "refresh = true", "config.toml:3: .*a number of seconds"),
    "a policy": (CONTEXT + "read_only = 'no'", "config.toml:3: .*true or false"),
    "no url": ("[contexts.a]\nlabel = 'A'", r"config.toml:1: \[contexts.a\] url: is missing"),
    "another url": ("[contexts.a]\nurl = 'mysql://h/d'", "config.toml:2: .*must be sqlite"),
    "a path that depends": ("[contexts.a]\nurl = 'sqlite:///a.db'", "config.toml:2: .*absolute path"),
    "a name": ('[contexts."a.b"]\nurl = "postgresql://h/d"', "config.toml:1: .*is no name"),
    "no table": ("contexts = 3", "config.toml:1: contexts: must be a table"),
    "a command for a file": (
        "[contexts.a]\nurl = 'sqlite:////a.db'\npassword_command = ['pass']",
        "config.toml:3: .*a file has no password",
    ),
    "an empty command": (CONTEXT + "password_command = []", "config.toml:3: .*a list of words"),
    "a missing context": (
        CONTEXT.replace("[", 'context = "b"\n[', 1),
        "config.toml:1: context: no context 'b'",
    ),
    "a list": ("[columns]\nthread = ['ID']", "config.toml:2: .*no list 'thread'; did you mean threads?"),
    "a column": ("[columns]\nthreads = ['ID']", "config.toml:2: .*no column 'ID'; there are AGE, EVENTS"),
    "a column twice": ("[columns]\nthreads = ['AGE', 'age']", "config.toml:2: .*'AGE' stands there twice"),
    "a verb": ("[keys]\ndetails = 'b'", "config.toml:2: .*no verb 'details'; did you mean detail?"),
    "a key": ("[keys]\ndetail = 'ctrl+b'", "config.toml:2: .*one printable character"),
    "a key that is taken": ("[keys]\ndetail = 'p'", "config.toml:2: .*'p' is taken by pause"),
    "a capital": ("[keys]\ndetail = 'B'", "config.toml:2: .*capitals start changes; only E, G, M, N, Y may"),
    "two verbs on one key": ("[keys]\ndetail = 'b'\npause = 'b'", "config.toml:.*'b' is taken by"),
    "a capability": (COMMAND.replace("read", "change"), "config.toml:3: .*no capability 'change'"),
    "a level of what looks": (COMMAND + "level = 2", "config.toml:4: .*what only looks is not confirmed"),
    "a level between": (
        COMMAND.replace("read", "write") + "level = 1.5",
        "config.toml:4: .*must be 1, 2 or 3",
    ),
    "a key of a change": (COMMAND.replace("read", "write") + 'key = "b"', "config.toml:4: .*needs a capital"),
    "a hook without a program": ("[hooks]\nafter_change = \"''\"", "config.toml:2: .*must name a program"),
    "a hook that is not closed": ('[hooks]\nafter_change = "a \'b"', "config.toml:2: .*into words"),
    "no argv": ('[commands.c]\ncapability = "read"', "config.toml:1: .*argv: is missing"),
    "a placeholder": (COMMAND.replace("date", 'date", "{ids}'), "config.toml:2: .*no placeholder 'ids'"),
    "a program": (COMMAND.replace("date", "{id}"), "config.toml:2: .*must begin with the program"),
    "a scope": (COMMAND + "scope = 'row'", "config.toml:4: .*no scope 'row'"),
    "an input": (COMMAND + "inputs = ['id']", "config.toml:4: .*cannot be an input"),
    "a command's name": (COMMAND.replace("commands.c", "commands.quit"), "config.toml:2: .*name of a verb"),
    "a command's key": (COMMAND + "key = 'p'", r"config.toml:4: \[commands.c\] key: 'p' is taken by pause"),
    "a command's capital": (COMMAND + "key = 'B'", "config.toml:4: .*capitals start changes"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_with_file_line_and_key(wrong: str) -> None:
    text, said = WRONG[wrong]
    assert re.match(said, refused(text)), refused(text)


@pytest.mark.parametrize(
    "line",
    [
        f'url = "postgresql://ops:{CANARY}@h/d"',
        f'url = "postgresql://h/d?password={CANARY}"',
        f'url = "postgresql://h/d?pass%77ord={CANARY}"',
        f'url = "postgresql://ops:{CANARY}"',
        f'url = "mysql://ops:{CANARY}@h/d"',
        f'url = "postgresql://h/d"\npassword = "{CANARY}"',
        f'url = "postgresql://h/d"\npassword_command = "echo {CANARY}"',
        f'url = "postgresql://h/d"\npassword_command = ["echo", 3, "{CANARY}"]',
    ],
)
def test_a_password_in_the_file_is_refused_and_not_repeated(line: str) -> None:
    said = refused(f"[contexts.a]\n{line}\n")
    assert CANARY not in said
    assert said.startswith("config.toml:")


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="larger"):
        parsed(b"#" * (LARGEST + 1), FILE)
    with pytest.raises(ConfigError, match="UTF-8"):
        parsed(b"a = '\xff'", FILE)
    with pytest.raises(ConfigError, match=r"config.toml:2: .*too many lines"):
        parsed(b"\na = [" + b"\n" * (LONGEST + 1) + b"]", FILE)
    with pytest.raises(ConfigError, match="directory"):
        load(tmp_path, environ={})


def test_every_line_is_found_whatever_the_way_of_writing() -> None:
    text = (
        'a.b = 1\n[x."y z"]\nk = """\n[not]\nn = 1\n"""\n\nl = [ # c\n 1]\n[[t]]\nm = 1\n[x]\nq = { r = 2 }\n'
    )
    lines = lines_of(text)
    assert lines[("a", "b")] == 1
    assert (lines[("x", "y z")], lines[("x", "y z", "k")], lines[("x", "y z", "l")]) == (2, 3, 8)
    assert (lines[("t", "m")], lines[("x", "q", "r")]) == (11, 13)
    assert ("not", "n") not in lines
    with pytest.raises(TooLongError):
        lines_of("a = [\n" + "1,\n" * LONGEST + "]")


def test_columns_are_chosen_by_title_and_kept_in_order() -> None:
    chosen = columns_of(config_of(WHOLE), catalogue.titles())
    columns = catalogue.views()["threads"].columns
    assert [each.title for each in shown_of(columns, chosen["threads"])] == ["THREAD", "STATE", "AGE"]
    assert shown_of(columns, None) is columns


def test_every_list_can_be_named() -> None:
    titles = catalogue.titles()
    assert all(titles.values())
    assert all(catalogue.name_of(view) == name for name, view in catalogue.views().items())


@pytest.mark.parametrize("arguments", [["prod"], ["console", "prod"], ["threads", "prod"], ["demo"]])
def test_a_wrong_file_ends_the_command_with_64(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    default_path().parent.mkdir(parents=True)
    default_path().write_text("[keys]\ndetail = 3\n")
    assert cli.run(arguments) == cli.Exit.USAGE
    said = capsys.readouterr().err
    assert said.startswith(f"holdwatch: {default_path()}:2: [keys] detail: must be text")


def test_a_key_that_is_taken_ends_the_console_with_64(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.toml").write_text("[keys]\ndetail = 'p'\n")
    (tmp_path / "a.db").touch()
    code = cli.run([str(tmp_path / "a.db"), "--config", str(tmp_path / "own.toml")])
    assert (code, "taken by pause" in capsys.readouterr().err) == (cli.Exit.USAGE, True)
