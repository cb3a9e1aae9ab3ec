"""Enumerations that botocore has for members with the name of an attribute, for diagnostics that do not list the values."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from botocore.loaders import Loader


def enumeration_for(resource_type: str, name: str) -> list[str] | None:
    """The values of a member of this name in the services that the type's name suggests; None if there is none."""
    wanted = folded(name)
    return next((found[wanted] for found in map(_enumerations, _services(resource_type)) if wanted in found), None)


def folded(name: str) -> str:
    """A name without its style and plural."""
    return name.replace("_", "").lower().removesuffix("s")


@cache
def service_names() -> tuple[str, ...]:
    """The services that botocore has models of."""
    return tuple(sorted(path.name for path in Path(Loader.BUILTIN_DATA_PATH).iterdir() if path.is_dir()))


def _services(resource_type: str) -> Iterator[str]:
    part = resource_type.split("_")[1]
    for service in service_names():
        plain = service.replace("-", "")
        if plain.startswith(part) or part.startswith(plain):
            yield service


@cache
def _enumerations(service: str) -> Mapping[str, list[str]]:
    loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    shapes = loader.load_service_model(service, "service-2")["shapes"]
    found: dict[str, list[str]] = {}
    for shape in shapes.values():
        for member, about in shape.get("members", {}).items():
            target = shapes[about["shape"]]
            target = shapes[target["member"]["shape"]] if target["type"] == "list" else target
            if "enum" in target:
                found.setdefault(folded(member), target["enum"])
    return found
