"""Known vulnerabilities in the OSV format: one, a list, what OSV's API answers, or what osv-scanner writes."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.signals.forms.fields import FiledSignal, items, mapping, moment, optional, text, texts


def read(document: Any) -> Iterator[FiledSignal]:
    """One signal for each package that a vulnerability affects; none for a withdrawn one. Raises `errors.Malformed`."""
    for found in _vulnerabilities(document):
        if optional(found, "withdrawn"):
            continue
        key = text(found, "id")
        since = moment(found.get("published") or found.get("modified"), "published")
        names = (key, *texts(found, "aliases"))
        for package in _packages(found):
            yield FiledSignal(
                key="/".join((key, *package.values())),
                name=key,
                since=since,
                labels={"id": key, **package},
                references=names,
            )


def _vulnerabilities(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for each in document:
            yield mapping(each, "vulnerability")
        return
    found = mapping(document, "file")
    if "vulns" in found:
        yield from _vulnerabilities(items(found["vulns"], "vulns"))
    elif "results" in found:
        for result in items(found["results"], "results"):
            for package in items(mapping(result, "results").get("packages") or [], "packages"):
                yield from _vulnerabilities(
                    items(mapping(package, "packages").get("vulnerabilities") or [], "packages")
                )
    else:
        yield found


def _packages(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """Ecosystem and name of each affected package, each once; an empty one if none is named."""
    packages = []
    for each in items(found.get("affected") or [], "affected"):
        package = mapping(mapping(each, "affected").get("package") or {}, "package")
        known = {"ecosystem": optional(package, "ecosystem"), "package": optional(package, "name")}
        if all(known.values()) and known not in packages:
            packages.append(known)
    return packages or [{}]
