"""The logger: silent by default, and every logging call in the package is constant text with safe fields."""

import ast
import logging
from pathlib import Path

import pytest

import discreet
from discreet.core.log import SAFE_FIELDS, logger

SOURCE = Path(discreet.__file__).parent
METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def unsafe_calls(source):
    """Return the lines of logging calls that could tell a value."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if is_logging(node) and not is_safe(node)]


def is_logging(node):
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
        return False
    home = ast.unparse(node.func.value)
    return "log" in home.lower()


def is_safe(call):
    arguments = call.args[1:] if call.func.attr == "log" else call.args
    constant = bool(arguments) and isinstance(arguments[0], ast.Constant) and isinstance(arguments[0].value, str)
    named = all(isinstance(field, ast.Name) and field.id in SAFE_FIELDS for field in arguments[1:])
    return constant and named and not call.keywords and call.func.attr != "exception"


def test_no_logging_call_tells_a_value():
    files = sorted(SOURCE.rglob("*.py"))
    found = {str(file.relative_to(SOURCE)): unsafe_calls(file.read_text(encoding="utf-8")) for file in files}
    assert len(found) > 300
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "call",
    [
        "logger.info(f'answer {answer}')",
        "logger.info('answer %s', answer)",
        "logger.debug(answer)",
        "logger.debug('a' + answer)",
        "logger.exception('failed')",
        "logging.getLogger('x').warning('%d', rows)",
        "log.error('failed', exc_info=True)",
        "logger.log(10, value)",
        "self._logger.info('%s', self.command.value)",
    ],
)
def test_the_scan_finds_calls_that_would_tell(call):
    assert unsafe_calls(call) == [1]


def test_the_scan_lets_safe_calls_pass():
    assert unsafe_calls("logger.info('done')\nlogger.debug('command %s', command)\nlogger.log(10, 'begins')") == []


def test_the_logger_is_silent_by_default(capfd):
    logger.warning("constant text")
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
