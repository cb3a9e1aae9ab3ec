"""Tells the reads that AWS charges by the call or by what it looks through: answers that are computed, not looked up.

Reviewed against AWS's price pages, by service. A read of a record of AWS's own costs nothing there, or far less than a cent for a thousand.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_EVERY: Final = frozenset({"ce", "cloudsearchdomain", "forecastquery", "geo-maps", "geo-places", "geo-routes", "personalize-runtime"})  # fmt: skip
"""Services that sell nothing but answers."""
_SOME: Final[Mapping[str, tuple[str, ...]]] = {
    "cloudwatch": ("GetInsightRuleReport", "GetMetricWidgetImage"),
    "comprehend": ("BatchDetect", "ContainsPii", "Detect"),
    "frauddetector": ("GetEventPrediction",),
    "inspector-scan": ("ScanSbom",),
    "kendra": ("Query", "Retrieve"),
    "location": ("Calculate", "ForecastGeofenceEvents", "GetMap", "GetPlace", "SearchPlaceIndex"),
    "logs": ("StartLiveTail", "StartQuery"),
    "qbusiness": ("SearchRelevantContent",),
    "qconnect": ("QueryAssistant", "Retrieve"),
    "rekognition": ("Compare", "Detect", "Recognize", "Search"),
    "s3": ("SelectObjectContent",),
    "sagemaker-geospatial": ("GetTile", "SearchRasterDataCollection"),
    "sesv2": ("GetEmailAddressInsights",),
    "textract": ("Analyze", "Detect"),
    "translate": ("TranslateText",),
    "wisdom": ("QueryAssistant",),
}
"""Starts of the names of the operations that are charged."""


@lru_cache(maxsize=4096)
def is_billed(service: str, operation: str) -> bool:
    """Whether AWS charges the read by the call or by what it looks through."""
    return service in _EVERY or operation.startswith(_SOME.get(service, ("\0",)))
