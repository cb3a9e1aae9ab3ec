"""The forms that a marker can take: a plain word, an ARN, a date, a JSON document; and which forms the name of an attribute suggests."""

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.tools.effects_tracing.answers import ACCOUNT

MARKER: Final = re.compile(r"mk[0-9a-f]{6}")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri")
_REGIONS: Final = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1", "sa-east-1")

_OWN: Final = re.compile(rf"{MARKER.pattern}|mk[a-p]{{8}}|{'|'.join(_REGIONS)}|{ACCOUNT}")


def is_own(text: str) -> bool:
    """Whether the text has something that the tracer made up: a marker, its account, a region."""
    return _OWN.search(text) is not None


def token(path: tuple[str, ...], run: int) -> str:
    """The marker of an attribute in a run: eight characters that no other attribute has."""
    return "mk" + hashlib.sha256(f"{'.'.join(path)}/{run}".encode()).hexdigest()[:6]


def hexadecimal(text: str, length: int) -> str:
    """Hexadecimal digits that follow from a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def number(text: str, most: int, least: int = 1) -> int:
    """A number that follows from a text."""
    return least + int(hexadecimal(text, 8), 16) % (most - least + 1)


def uuid(text: str) -> str:
    """A UUID that follows from a text."""
    digits = hexadecimal(text, 32)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def _policy(t: str) -> str:
    statement = {"Sid": t, "Effect": "Allow", "Action": "sqs:*", "Resource": "*", "Principal": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _states(t: str) -> str:
    return json.dumps({"Comment": t, "StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}})


def _day(t: str) -> str:
    return f"20{number(t, 60, 30)}-0{number(t + 'm', 9)}-1{number(t + 'd', 9, 0)}"


def _week(t: str) -> str:
    day = _DAYS[number(t, 6) - 1]
    return f"{day}:0{number(t + 'h', 7)}:00-{day}:09:{number(t + 'm', 59, 10)}"


def _file(t: str) -> str:
    """The path of a file whose content is the marker."""
    path = Path(tempfile.gettempdir()) / f"trace-{t}.zip"
    if not path.exists():
        path.write_text(t)
    return str(path)


def _arn(service: str, resource: Callable[[str], str]) -> Callable[[str], str]:
    return lambda t: f"arn:aws:{service}:{resource(t)}"


_LAMBDA_ACTIONS: Final = ("InvokeFunction", "InvokeFunctionUrl", "GetFunction", "InvokeAsync", "ListTags")
_ZONES: Final = (
    "Europe/Paris",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "America/Chicago",
    "Asia/Kolkata",
    "UTC",
)
_HERE: Final = f"us-east-1:{ACCOUNT}"
FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": lambda t: t,
    "hyphen": lambda t: f"{t[:4]}-{t[4:]}",
    "long": lambda t: f"{t}-{hexadecimal(t, 24)}",
    "role": _arn("iam", lambda t: f":{ACCOUNT}:role/{t}"),
    "arn": _arn("sns", lambda t: f"{_HERE}:{t}"),
    "kms": _arn("kms", lambda t: f"{_HERE}:key/{uuid(t)}"),
    "lambda": _arn("lambda", lambda t: f"{_HERE}:function:{t}"),
    "bucketarn": _arn("s3", lambda t: f"::{t}"),
    "cert": _arn("acm", lambda t: f"{_HERE}:certificate/{uuid(t)}"),
    "stream": _arn("kinesis", lambda t: f"{_HERE}:stream/{t}"),
    "taskdef": _arn("ecs", lambda t: f"{_HERE}:task-definition/{t}:{number(t, 90)}"),
    "loggroup": _arn("logs", lambda t: f"{_HERE}:log-group:{t}:*"),
    "subnet": lambda t: f"subnet-{hexadecimal(t, 17)}",
    "vpc": lambda t: f"vpc-{hexadecimal(t, 17)}",
    "sg": lambda t: f"sg-{hexadecimal(t, 17)}",
    "eni": lambda t: f"eni-{hexadecimal(t, 17)}",
    "resid": lambda t: f"res-{hexadecimal(t, 17)}",
    "instance": lambda t: f"i-{hexadecimal(t, 17)}",
    "json": lambda t: json.dumps({t: "x"}),
    "jsonlist": lambda t: json.dumps([{"name": t}]),
    "policy": _policy,
    "asl": _states,
    "date": lambda t: f"{_day(t)}T0{number(t + 'h', 9)}:00:00Z",
    "day": _day,
    "url": lambda t: f"https://{t}.example.com/x",
    "domain": lambda t: f"{t}.example.com",
    "email": lambda t: f"{t}@example.com",
    "cidr": lambda t: f"10.{number(t, 250)}.0.0/16",
    "cidr24": lambda t: f"10.{number(t, 250)}.{number(t + 'x', 250)}.0/24",
    "host32": lambda t: f"10.{number(t, 250)}.{number(t + 'x', 250)}.7/32",
    "cidr6": lambda t: f"2001:db8:{hexadecimal(t, 4)}::/56",
    "ip": lambda t: f"10.{number(t, 250)}.{number(t + 'x', 250)}.7",
    "ip6": lambda t: f"2001:db8:{hexadecimal(t, 4)}::7",
    "digits": lambda t: str(number(t, 9000, 1000)),
    "small": lambda t: str(number(t, 9)),
    "account": lambda t: str(number(t, 9 * 10**11, 10**11)),
    "bool": lambda t: "true" if number(t, 2) == 1 else "false",
    "base64": lambda t: base64.b64encode(f"{t}:payload-{hexadecimal(t, 20)}".encode()).decode(),
    "rate": lambda t: f"rate({number(t, 50, 2)} minutes)",
    "cron": lambda t: f"cron({number(t, 59, 0)} 12 * * ? *)",
    "uuid": uuid,
    "hex32": lambda t: hexadecimal(t, 32),
    "week": _week,
    "window": lambda t: f"0{number(t, 7)}:{number(t + 'm', 59, 10)}-09:30",
    "clock": lambda t: f"0{number(t, 9)}:{number(t + 'm', 59, 10)}",
    "week2": lambda t: f"Mon:0{number(t, 9)}:{number(t + 'm', 59, 10)}",
    "duration": lambda t: f"PT{number(t, 59, 2)}M",
    "az": lambda t: f"us-east-1{'abcdef'[number(t, 6) - 1]}",
    "region": lambda t: _REGIONS[number(t, 6) - 1],
    "path": lambda t: f"/{t}/",
    "slash": lambda t: f"/{t}",
    "s3uri": lambda t: f"s3://{t}/key",
    "action": lambda t: f"lambda:{_LAMBDA_ACTIONS[number(t, len(_LAMBDA_ACTIONS)) - 1]}",
    "principal": lambda t: f"{t}.amazonaws.com",
    "upper": str.upper,
    "alpha": lambda t: "mk" + "".join(chr(97 + int(digit, 16)) for digit in hexadecimal(t, 8)),
    "version": lambda t: f"{number(t, 9)}.{number(t + 'x', 9)}",
    "version3": lambda t: f"{number(t, 9)}.{number(t + 'x', 9)}.{number(t + 'y', 9)}",
    "dotted": lambda t: f"{t}.{t}",
    "star": lambda _: "*",
    "any": lambda _: "ANY",
    "fifo": lambda t: f"{t}.fifo",
    "nodetype": lambda t: f"cache.{t}.large",
    "dbclass": lambda t: f"db.{t}.large",
    "pair": lambda t: f"{t}:{t}",
    "tz": lambda t: _ZONES[number(t, len(_ZONES)) - 1],
    "phone": lambda t: f"+1202555{number(t, 9000, 1000)}",
    "empty": lambda _: "",
    "file": _file,
    "directory": lambda t: f"d-{hexadecimal(t, 10)}",
    "userpool": lambda t: f"us-east-1_{t}",
    "filesystem": lambda t: f"fs-{hexadecimal(t, 17)}",
    "fsxvolume": lambda t: f"fsvol-{hexadecimal(t, 17)}",
    "fsxsnapshot": lambda t: f"fsvolsnap-{hexadecimal(t, 17)}",
    "svm": lambda t: f"svm-{hexadecimal(t, 17)}",
    "transferserver": lambda t: f"s-{hexadecimal(t, 17)}",
    "corenetwork": lambda t: f"core-network-{hexadecimal(t, 17)}",
    "globalnetwork": lambda t: f"global-network-{hexadecimal(t, 17)}",
    "typename": lambda t: f"{t}::Own::Kind",
    "datazone": lambda t: f"dzd_{t}",
    "multicast": lambda t: f"224.{number(t, 250)}.{number(t + 'x', 250)}.7",
    "fisaction": lambda t: f"aws:{t}:act",
    "partnersource": lambda t: f"aws.partner/{t}.com",
    "s3table": lambda t: f"arn:aws:s3tables:us-east-1:{ACCOUNT}:bucket/{t}",
    "apigateway": lambda t: f"arn:aws:apigateway:us-east-1::/restapis/{t}/stages/{t}",
    "loadbalancer": lambda t: (
        f"arn:aws:elasticloadbalancing:us-east-1:{ACCOUNT}:loadbalancer/app/{t}/{hexadecimal(t, 16)}"
    ),
    "listener": lambda t: (
        f"arn:aws:elasticloadbalancing:us-east-1:{ACCOUNT}:listener/app/{t}/{hexadecimal(t, 16)}/{hexadecimal(t + 'l', 16)}"
    ),
    "accesspoint": lambda t: f"arn:aws:s3:us-east-1:{ACCOUNT}:accesspoint/{t}",
    "keyspaces": lambda t: f"{t.replace('-', '_')}",
    "upload": lambda t: f"{t}.zip",
    "asn": lambda t: str(number(t, 65500, 64512)),
    "linklocal": lambda t: f"169.254.{number(t, 250, 6)}.{8 * number(t + 'x', 30)}/29",
    "root": lambda t: f"r-{hexadecimal(t, 8)}",
    "attachment": lambda t: f"attachment-{hexadecimal(t, 17)}",
    "alias": lambda t: f"alias/{t}",
    "timezone_offset": lambda t: f"GMT+{number(t, 11)}:30",
}
"""Name → the form of a marker."""

_HINTS: Final = (
    (r"_asn$|^asn$", "asn"),
    (r"inside_cidr", "linklocal cidr"),
    (r"^parent_id$", "plain root"),
    (r"attachment_id$", "plain attachment"),
    (r"^alias_name$", "plain alias"),
    (r"^directory_id$", "directory plain"),
    (r"user_pool_ids?$", "userpool plain"),
    (r"file_system_id$", "filesystem plain"),
    (r"^parent_volume_id$|^volume_id$", "fsxvolume plain"),
    (r"^storage_virtual_machine_id$", "svm"),
    (r"^server_id$", "transferserver plain"),
    (r"^core_network_id$", "corenetwork plain"),
    (r"^global_network_id$", "globalnetwork plain"),
    (r"^type_name$", "plain typename"),
    (r"^domain_identifier$", "plain datazone"),
    (r"^group_ip_address$", "multicast"),
    (r"^action_id$", "fisaction plain"),
    (r"table_bucket_arn$", "s3table"),
    (r"^listener_arn$", "listener"),
    (r"load_balancer_arns?$", "loadbalancer arn"),
    (r"access_point_arn$", "accesspoint arn"),
    (r"task_definition", "taskdef plain"),
    (r"^filename$|_file$|^source$|file_path", "file plain"),
    (r"role_arn$|_role$|^role$|execution_role", "role plain"),
    (r"kms.*(arn|id|key)|encryption_key|key_arn$", "kms plain"),
    (r"certificate_arn|acm.*arn", "cert"),
    (r"lambda.*arn|function_arn", "lambda arn"),
    (r"bucket_arn", "bucketarn"),
    (r"stream_arn", "stream arn"),
    (r"log.*arn|log_destination$", "loggroup arn"),
    (r"arns?$", "arn role lambda kms bucketarn plain"),
    (r"subnet_ids?$|subnets$|subnet_mapping", "subnet"),
    (r"security_groups?(_ids?)?$|security_group", "sg"),
    (r"vpc_ids?$", "vpc"),
    (r"instance_ids?$", "instance plain"),
    (r"network_interface", "eni plain"),
    (r"account_ids?$|^accounts?$|owner_id|catalog_id|registry_id", "account plain"),
    (r"assume_role_policy|policy$|policy_document|resource_policy|^policy", "policy plain json"),
    (r"definition$", "asl json jsonlist plain"),
    (
        r"json|pattern$|event_pattern|document$|attributes$|redrive|schema$|content$",
        "json policy plain jsonlist",
    ),
    (r"email", "email"),
    (r"ipv6_cidr", "cidr6"),
    (r"cidr|prefix_list_cidr", "cidr cidr24 cidr6"),
    (r"ip_address$|_ips?$|^ip$|ip_addresses|dns_ip|private_ip|public_ip", "ip cidr24 plain"),
    (r"schedule(_expression)?$", "rate cron plain"),
    (r"maintenance_window|weekly.*start", "week week2"),
    (r"(backup|snapshot)_window", "window"),
    (r"timezone|time_zone", "tz"),
    (r"availability_zones?$", "az plain"),
    (r"regions?$|_region$", "region plain"),
    (
        r"(start|end|expir\w*|valid\w*)_(time|date)$|date$|timestamp$|_at$|_time$|^expiration|valid_until",
        "date day clock plain",
    ),
    (r"ur[il]s?$|endpoint$|callback", "url domain plain"),
    (r"domain(_name)?s?$|^domain|hostname|zone_name|fqdn", "domain plain alpha"),
    (r"^port$|_port$|ports$", "digits plain"),
    (r"engine_version|_version$", "version plain version3 digits"),
    (r"^path$", "path slash plain"),
    (r"base64|user_data|blob", "base64 plain"),
    (r"node_type", "nodetype plain"),
    (r"instance_class|db_instance_class", "dbclass plain"),
    (r"phone", "phone"),
    (r"s3_uri|s3_location|location_uri", "s3uri plain"),
    (r"^action$", "plain action star"),
    (r"principals?$", "account principal role star"),
)
_GENERIC: Final = """plain alpha hyphen arn role digits small json policy domain url email date ip cidr uuid hex32 base64 region az slash
    path upper bool duration version3 long s3uri clock dotted account resid subnet sg vpc jsonlist rate principal loggroup stream fifo empty"""


def forms_for(name: str) -> list[str]:
    """The forms to try for an attribute of this name, the likeliest first."""
    hinted = [form for pattern, forms in _HINTS if re.search(pattern, name) for form in forms.split()]
    return [*dict.fromkeys([*hinted, *_GENERIC.split()])]
