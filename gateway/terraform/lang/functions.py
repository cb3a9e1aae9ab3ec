"""Terraform's functions by name. A call of one whose result is not certain is `Unknown`, and the message names it and says why.

Source of the behaviour: developer.hashicorp.com/terraform/language/functions and zclconf/go-cty `function/stdlib`; each is held to
`terraform console` by tests.
"""

from collections.abc import Callable, Mapping, Sequence

from gateway.terraform.lang import (
    functions_collection,
    functions_encoding,
    functions_format,
    functions_network,
    functions_number,
    functions_text,
    functions_time,
)
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value, to_json

_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **functions_collection.FUNCTIONS,
    **functions_encoding.FUNCTIONS,
    **functions_format.FUNCTIONS,
    **functions_network.FUNCTIONS,
    **functions_number.FUNCTIONS,
    **functions_text.FUNCTIONS,
    **functions_time.FUNCTIONS,
}
NAMES = frozenset({*_FUNCTIONS, *functions_collection.READING_NO_ITEMS})
"""The functions that are evaluated, besides `try` and `can`."""
_FILE = "it reads a file"
IMPURE: Mapping[str, str] = {
    "abspath": "it depends on the directory in which Terraform runs",
    "base64gzip": "its bytes depend on the version of the compressor",
    "bcrypt": "it has another value at each run",
    "file": _FILE,
    "filebase64": _FILE,
    "filebase64sha256": _FILE,
    "filebase64sha512": _FILE,
    "fileexists": _FILE,
    "filemd5": _FILE,
    "fileset": "it lists files",
    "filesha1": _FILE,
    "filesha256": _FILE,
    "filesha512": _FILE,
    "issensitive": "whether a value is sensitive is not followed",
    "pathexpand": "it depends on the home directory of the user who runs Terraform",
    "plantimestamp": "it has another value at each run",
    "templatefile": _FILE,
    "templatestring": "its template is not read",
    "timestamp": "it has another value at each run",
    "type": "only `terraform console` has it",
    "uuid": "it has another value at each run",
}
"""Functions that are known, but whose value the code alone does not tell, and why."""
READING = frozenset(name for name, why in IMPURE.items() if why == _FILE)
"""Functions whose first argument names a file that they read."""


def call(name: str, arguments: Sequence[Value]) -> Value:
    """The result of a function. Raises `Unknown` if the function is not listed or the result not certain, `EvaluationFailed` if Terraform fails."""
    name = name.removeprefix("core::")
    function = functions_collection.READING_NO_ITEMS.get(name)
    if function is None:
        function = _FUNCTIONS.get(name)
        if function is None:
            why = IMPURE.get(name, "Terraform has no such function, or a provider has it")
            raise Unknown(f"{name}() is not evaluated: {why}")
        for argument in arguments:
            to_json(argument)
    try:
        return function(*arguments)
    except TypeError:
        raise EvaluationFailed(f"{name}() does not take these arguments") from None
    except (ArithmeticError, LookupError, ValueError):
        raise Unknown(f"{name}() is not evaluated for these arguments") from None
