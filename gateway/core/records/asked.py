"""What a decision asked the policies and judged contracts on, in a compact and versioned form, so that edited ones can be asked the same.

The form is JSON, deflated with a dictionary of the texts that every input has, in base 85. It holds no secret: see `model.verdict.Asked`.
"""

import functools
import zlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import msgspec

from gateway.core.base85 import b85decode, b85encode
from gateway.core.model.json import Json, canonical, canonical_again
from gateway.core.model.verdict import Asked

VERSION: Final = 2
"""Of the form and of the dictionary, in what is written."""
INPUT_VERSION: Final = 1
"""Of the input document in every version (`sentinel policy schema`)."""
LARGEST: Final = 4096 - 128
"""Characters of one decision's questions; more are left out of its record, and the rest of the member needs some too."""
_LARGEST_TEXT: Final = 256 * 1024
"""Bytes of the JSON."""
_WORKING_ON: Final = 4
"""Records whose facts stay unpacked: one for each thread that replays."""


class LeftOutFor(StrEnum):
    """Why a record has no questions although its decision asked some."""

    SIZE = "size"
    """They are larger than a record has room for."""
    SECRET = "secret"  # noqa: S105  a reason
    """The policies decided by a secret in a document, which is never stored."""


class RecordedAsked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The questions, or why they are left out."""

    version: int = 1
    """The one that is not named in records, as it was the first."""
    packed: str = ""
    left_out: LeftOutFor | None = None

    @classmethod
    def of(cls, asked: Sequence[Asked], judged: Json = None, version: int = VERSION) -> "RecordedAsked | None":
        """The form of these questions and of what contracts were judged on; None if nothing was asked.

        If there is no room for both, it has the questions alone. `version` is one that every reader knows.
        """
        if not asked:
            return None
        if not all(each.exact for each in asked):
            return cls(left_out=LeftOutFor.SECRET)
        packed = _packed(asked, judged, version) or (_packed(asked, None, version) if judged is not None else None)
        return cls(version=version, packed=packed) if packed is not None else cls(left_out=LeftOutFor.SIZE)

    def questions(self) -> tuple[Asked, ...]:
        """The questions. Raises ValueError for a text that no Sentinel of this version wrote."""
        document = _unpacked(self.packed, self.version)
        documents = document["documents"]
        return tuple(
            Asked(
                check=check,
                entrypoint=entrypoint,
                document=documents[number],
                lifted=tuple(lifted),
                untold=None if untold is None else tuple((address, attribute) for address, attribute in untold),
            )
            for check, entrypoint, number, lifted, untold in document["asked"]
        )

    def judged(self) -> Json:
        """What contracts were judged on; None if it is left out. Raises ValueError, and KeyError for a record from before that was kept."""
        found: Json = _unpacked(self.packed, self.version)["judged"]
        return found


def _packed(asked: Sequence[Asked], judged: Json, version: int) -> str | None:
    """The packed questions, with what contracts were judged on; None if they are too large."""
    numbers: dict[int, int] = {}
    documents: list[Mapping[str, Json]] = []
    for each in asked:  # two checks ask about one document
        if id(each.document) not in numbers:
            numbers[id(each.document)] = len(documents)
            documents.append(each.document)
    questions = [[each.check, each.entrypoint, numbers[id(each.document)], each.lifted, each.untold] for each in asked]
    # The canonical JSON of all three, in parts: the documents were written before, as questions.
    whole = b",".join(map(canonical_again, documents))
    text = b'{"asked":%b,"documents":[%b],"judged":%b}' % (canonical(questions), whole, canonical(judged))
    if len(text) > _LARGEST_TEXT:  # never fits; deflating it would take longer than the decision
        return None
    deflate = zlib.compressobj(level=6, wbits=_wbits(version), zdict=DICTIONARIES[version])
    packed = b85encode(deflate.compress(text) + deflate.flush())
    return packed if len(packed) <= LARGEST else None


@functools.lru_cache(maxsize=_WORKING_ON)
def _unpacked(packed: str, version: int) -> Any:
    """What is packed, which nobody may change. Of one record both the questions and what was judged are asked for."""
    if version not in DICTIONARIES:
        message = f"The recorded questions have version {version}, which this Sentinel does not know."
        raise ValueError(message)
    try:
        inflate = zlib.decompressobj(wbits=_wbits(version), zdict=DICTIONARIES[version])
        text = inflate.decompress(b85decode(packed), _LARGEST_TEXT)
    except (ValueError, zlib.error) as error:
        message = f"The recorded questions cannot be unpacked: {error}."
        raise ValueError(message) from error
    if not inflate.eof:
        message = "The recorded questions are larger than any that Sentinel records."
        raise ValueError(message)
    return msgspec.json.decode(text)


def _wbits(version: int) -> int:
    """Of zlib: from the second version on without a checksum, as the hash of the record is one."""
    return zlib.MAX_WBITS if version == 1 else -zlib.MAX_WBITS


# A change of one byte here makes every record of its version unreadable: a new dictionary is a new version.
_FIRST: Final = (
    b'["arbitration","sentinel/arbitration/result",0,[],null]hmac_sha256"clm_01"cidr_blocks":["10.0.0.0/8"]"from_port":443,"to_port":"protocol":"tcp"'
    b'"aws_security_group."aws_iam_role."aws_iam_policy."aws_s3_bucket."aws_db_instance."aws_lambda_function."aws_sqs_queue.module."tags.'
    b'{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["Resource":"arn:aws:"Principal":{"AWS":"Service":"Condition":{"StringEquals":'
    b'"security","capacity","compliance","maintenance","cost","performance","availability","motivation":"incident","budget","routine","alert"'
    b'"claims":[{"actor":"agent-","address":"aws_","attribute":"desired_capacity","evidence":[],"id":"clm_","intent":"availability","kind":"agent","motivation":"routine",'
    b'"proven":null,"relation":"same","relation":"dependant","relation":"resource","relation":"dependency","resource_type":"aws_","since_ns":17,"unsettled":false,"until":"202","until_ns":17,"value":'
    b'"dependants":[{"address":"aws_cloudwatch_metric_alarm.","critical":false,"direct":true},{"address":"aws_","critical":true,"direct":false}'
    b'"parts":[{"accounts":[],"class":"unclassified","declared":false,"fresh":[],"named":false,"path":"environment","texts":['
    b'{"asked":[["policy","sentinel/guardrails/result",0,[],null],["arbitration","sentinel/arbitration/result",0,[],null]],"documents":['
    b'{"caller":{"actor":"agent-","held_before":[],"kind":"agent","on_behalf_of":"","open_claims":0,"roles":["approver"]},"kind":"human","kind":"pipeline","claims":[],"dependants":[],"flips":{},'
    b'"mode":"enforce","mode":"observe","motive":null,"motive":{"evidence":[],"intent":"availability","motivation":"routine","proven":null,"text":"","wanted_seconds":null},'
    b'"mutation":{"account":"000000000000","accounts":[],"class":"mutation","class":"execute","controls":[],"effects":[{"action":"create","action":"delete","action":"invoke","attribute":"*","before":true,"value":false,'
    b'"address":"aws_","attribute":"","basis":"derived","action":"set","address":"aws_autoscaling_group.","attribute":"desired_capacity","basis":"hand","before":null,"by":"","changes":true,'
    b'"contract":{"critical":false,"managed_by_agent":false,"owner":"","prevent_delete":false},"contract":{"critical":false,"managed_by_agent":true,"owner":"team-","prevent_delete":false},'
    b'"declared":true,"declared_value":null,"exists":true,"identity":{"name":"},"implied":false,"may_be":[],"may_change":[],"parts":[],"resource_type":"aws_autoscaling_group","upserted":false,"value":'
    b'}],"id":"mut_01","inner":[],"operation":"Put","parameters":{},"service":"ec2","understood":true},"now_ns":17,"security_groups":{"of":{},"rules":{}},"signals":[],"stack":"prod","stacks":["prod"]}]}'
)
# The document that most calls have, in the order of its members: what stands in the dictionary as a whole is one match.
_SECOND: Final = _FIRST + (
    b'{"asked":[["policy","sentinel/guardrails/result",0,[],null],["arbitration","sentinel/arbitration/result",0,[],null]],'
    b'"documents":[{"caller":{"actor":"agent-","held_before":[],"kind":"agent","on_behalf_of":"","open_claims":0,"roles":[]},"claims":[{"actor":"agent-",'
    b'"address":"aws_","attribute":"desired_capacity","evidence":["INC-"],"id":"clm_01m","intent":"availability","kind":"agent","motivation":"incident",'
    b'"proven":null,"relation":"same","resource_type":"aws_","since_ns":17","unsettled":false,"until":"2026-1-T:00.000000Z","until_ns":17,"value":1}],'
    b'"cost":{"dated":"2026-0","known_cents":0,"monthly_cents":null,"unknown":["aws_"],"unknown_count":1},"dependants":[],"flips":{},"mode":"enforce",'
    b'"motive":{"evidence":["INC-"],"intent":"availability","motivation":"incident","proven":null,"text":"","wanted_seconds":null},"mutation":{"account":"",'
    b'"accounts":[],"class":"mutation","controls":[],"effects":[{"action":"set","address":"aws_","attribute":"desired_capacity","basis":"hand","before":1,'
    b'"by":"","changes":true,"contract":{"critical":false,"managed_by_agent":true,"owner":"team-","prevent_delete":false},"declared":true,'
    b'"declared_value":1,"exists":true,"identity":{"name":""},"implied":false,"may_be":[],"may_change":[],"parts":[],'
    b'"resource_type":"aws_autoscaling_group","upserted":false,"value":1}],"id":"mut_01m","inner":[],"operation":"Set","parameters":{},"region":"us-east-1",'
    b'"regions":{},"service":"autoscaling","understood":true},"now_ns":17,"security_groups":{"of":{},"rules":{}},"signals":[],"stack":"","stacks":[""]}],'
    b'"judged":{"effects":[{"disputed":true}],"resources":{"aws_":{"before":{"arn":"arn:aws:autoscaling:us-east-1:autoScalingGroup:autoScalingGroupName/",'
    b'"desired_capacity":1,"id":"","max_size":1,"min_size":1,"name":"","tag":[]},"dependants":[],"exists":true}}}}'
)
DICTIONARIES: Final = {1: _FIRST, 2: _SECOND}
"""By version."""
