"""Reads CloudTrail events from a file that a person names. A reconcile without such a file does not import what reads CloudTrail's formats."""

from pathlib import Path

from gateway.core.cloudtrail_files import read_records
from reconciler.changes.cloudtrail import Events, events_of


def read_events(path: Path) -> Events:
    """Events from any of CloudTrail's file formats: `{"Records": […]}`, a list, or one JSON object per line.

    Results of LookupEvents, whose record is text in `CloudTrailEvent`, are read too. Unreadable records are reported in `bad`.
    Raises `errors.EventsInvalid` if the file as a whole cannot be read.
    Source: "CloudTrail record contents" in the AWS CloudTrail user guide.
    """
    return events_of(read_records(path), str(path))
