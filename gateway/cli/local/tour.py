"""`sentinel tour`: the whole story against a running `sentinel up`, each step as it happens, checked as it goes."""

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gateway.cli.client import ask, mutation_path
from gateway.cli.identity import UP_DIRECTORY
from gateway.cli.local.credentials import NoIdentity, read_credentials
from gateway.cli.local.tour_fixtures import ASG, Step, TourFailed, TourFixtures, called, expect, refused
from gateway.cli.output import complaints, console, run, show_json, show_pairs
from gateway.settings import CONFIG_FILE, read_settings

INCIDENT = 'incident; evidence=ALERT-1207; text="consumer lag over five minutes"'


def tour(
    *,
    home: Annotated[Path, typer.Option(help="The directory of the running `sentinel up`.")] = UP_DIRECTORY,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what each step saw as one JSON document at the end.")
    ] = False,
) -> None:
    """Play the story: eleven steps, real boto3, real Terraform, the running gateway. Exit code 1 if any step is not as told."""
    stage = run(_play(home.resolve(), complaints if as_json else console), as_json=as_json)
    if as_json:
        show_json({"steps": stage.told})
    else:
        console.print("\n[green]The story went as told.[/green]")


async def _play(home: Path, out: Console) -> TourFixtures:
    from botocore.exceptions import BotoCoreError, ClientError

    kept = read_credentials(home)
    if kept is None:
        raise NoIdentity(
            f"There is no `sentinel up` in {home}. Start `make up` (or `sentinel up`) first, and leave it running."
        )
    stage = TourFixtures(home=home, kept=kept, settings=read_settings(home / CONFIG_FILE), out=out)
    try:
        await _begin(stage)
        for step in STEPS:
            await step(stage)
    except BotoCoreError as error:
        raise TourFailed(f"Sentinel did not answer: {error} Is `sentinel up` still running?") from error
    except ClientError as error:
        raise TourFailed(f"This should have passed, and was refused: {error}") from error
    return stage


async def _begin(stage: TourFixtures) -> None:
    """Refuse to begin where the story cannot go as told."""
    if shutil.which(stage.settings.reconcile.terraform) is None:
        raise TourFailed("The story needs Terraform, which is not on PATH. Install it, then start `sentinel up` again.")
    group = (await _group(stage))["DesiredCapacity"]
    if group != 4:  # noqa: PLR2004  what the example's terraform.tfvars says
        raise TourFailed(f"The story begins with 4 consumers and there are {group}. Begin anew: `sentinel up --fresh`.")


async def _group(stage: TourFixtures) -> Any:
    found = await called(
        lambda: stage.client("autoscaling", "agent").describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])
    )
    expect(found["AutoScalingGroups"], "The example stack is not there. `sentinel up --apply` applies it.")
    return found["AutoScalingGroups"][0]


async def scale_out(stage: TourFixtures) -> None:
    """Allowed, applied once, recorded before and after, written into terraform.tfvars."""
    stage.title(1, "The agent scales out in an incident")
    stage.say("call", f"autoscaling.set_desired_capacity({ASG}, 6)   intent availability, motivation incident")
    client = stage.client("autoscaling", "agent", "availability", INCIDENT)
    reply = await called(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6))
    mutation = reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    expect((await _group(stage))["DesiredCapacity"] == 6, "The group should have 6 consumers now.")  # noqa: PLR2004
    stage.say("verdict", "allow, applied", "green")
    await _written_back(stage, mutation, "terraform.tfvars")


async def _written_back(stage: TourFixtures, mutation: str, file: str) -> None:
    """Show ledger, diff, commit and plan of a change that must reach the code."""
    for record in (await stage.life(mutation))[:2]:
        stage.show_record(record)
    body = await stage.reconciliation_of(mutation)
    expect(body.get("commit"), f"{mutation} should have become a commit, but: {json.dumps(body)[:500]}")
    expect(file in json.dumps(body["files"]), f"The edit should be in {file}, not {body['files']}.")
    stage.show_diff(body["diff"])
    proofs = {proof["name"]: proof["held"] for proof in body["proofs"]}
    stage.say("plan", f"proofs: {', '.join(name for name, held in proofs.items() if held)}", "green")
    expect(proofs.get("plan_clean"), "The plan should be clean after the edit.")
    stage.say("commit", f"{body['commit'][:12]} on {body['branch']}")
    stages = [record["stage"] for record in await stage.life(mutation)]
    expect(
        stages[:2] == ["decided", "settled"] and "reconciled" in stages,
        f"The ledger should hold DECIDED, SETTLED, RECONCILED, not {stages}.",
    )
    stage.told.append({"mutation": mutation, "stages": stages, **body})


async def too_far(stage: TourFixtures) -> None:
    """Refused before AWS is called; the message names bound, file, line and the nearest legal value."""
    stage.title(2, "The agent asks for 20")
    stage.say("call", f"autoscaling.set_desired_capacity({ASG}, 20)")
    client = stage.client("autoscaling", "agent", "availability", INCIDENT)
    error = await refused(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=20))
    await _denied(stage, error, "max", "kafka.sentinel.hcl:", "16")


async def _denied(stage: TourFixtures, error: Any, *words: str) -> None:
    """Show a refusal that must say all of these words."""
    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
    stage.say("verdict", f"{code}: {message}", "red")
    missing = [word for word in words if word not in message]
    expect(not missing, f"The message should name {missing}.")
    mutation = error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    life = await stage.life(mutation)
    stage.show_record(life[-1])
    expect([record["stage"] for record in life] == ["decided"], "A refusal should leave exactly one record, DECIDED.")
    stage.told.append({"mutation": mutation, "code": code, "message": message})


async def widen_alarm(stage: TourFixtures) -> None:
    """The article's own case: the agent widens an alarm's threshold; in bounds, applied, written back."""
    stage.title(3, "The agent widens the alarm that triggers scaling")
    stage.say("call", "cloudwatch.put_metric_alarm(HighConsumerLagAlarm, Threshold=500000)")
    client = stage.client("cloudwatch", "agent", "availability", INCIDENT)
    alarm = (await called(lambda: client.describe_alarms(AlarmNames=["HighConsumerLagAlarm"])))["MetricAlarms"][0]
    kept = (
        *("AlarmName", "AlarmDescription", "ActionsEnabled", "AlarmActions", "MetricName", "Namespace", "Statistic"),
        *("Dimensions", "Period", "EvaluationPeriods", "ComparisonOperator"),
    )
    whole = {name: alarm[name] for name in kept if name in alarm}
    reply = await called(lambda: client.put_metric_alarm(**whole, Threshold=500000))
    stage.say("verdict", "allow, applied", "green")
    await _written_back(stage, reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"], "consumer.tf")


async def skeleton(stage: TourFixtures) -> None:
    """A resource without managed_by_agent is not the agent's to touch."""
    stage.title(4, "The agent touches what is not its own")
    stage.say("call", "lambda.update_function_configuration(kafka-rebalancer, MemorySize=512)")
    client = stage.client("lambda", "agent", "performance", "routine")
    error = await refused(lambda: client.update_function_configuration(FunctionName="kafka-rebalancer", MemorySize=512))
    await _denied(stage, error, "managed_by_agent")


async def delete_table(stage: TourFixtures) -> None:
    """prevent_delete, and who depends on it."""
    stage.title(5, "The agent deletes the table")
    stage.say("call", "dynamodb.delete_table(kafka-offsets)")
    client = stage.client("dynamodb", "agent", "cost", "budget")
    error = await refused(lambda: client.delete_table(TableName="kafka-offsets"))
    await _denied(stage, error, "prevent_delete", "aws_lambda_function.rebalancer")


async def open_world(stage: TourFixtures) -> None:
    """A Rego rule, its id and message shown."""
    stage.title(6, "The agent opens SSH to the world")
    stage.say("call", "ec2.authorize_security_group_ingress(port 22, 0.0.0.0/0)")
    client = stage.client("ec2", "agent", "availability", INCIDENT)
    groups = await called(
        lambda: client.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["kafka-consumer"]}])
    )
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    group = groups["SecurityGroups"][0]["GroupId"]
    error = await refused(lambda: client.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule]))
    await _denied(stage, error, "SEN-N001", "22", "0.0.0.0/0")


async def optimizer(stage: TourFixtures) -> None:
    """Another agent, with a weaker motive: told who holds the group, why, and until when."""
    stage.title(7, "A cost optimizer asks for 3 while the incident's claim stands")
    stage.say("call", f"autoscaling.set_desired_capacity({ASG}, 3)   intent cost, motivation budget, another agent")
    client = stage.client("autoscaling", "optimizer", "cost", "budget; evidence=FIN-88")
    error = await refused(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=3))
    await _denied(stage, error, "agent-scaler", "availability", "incident", "until")


async def old_apply(stage: TourFixtures) -> None:
    """Terraform from the old commit would set 4 again; the same claim stops it, and Terraform shows why."""
    stage.title(8, "The pipeline runs terraform apply from the old commit")
    code, output = await stage.terraform("apply", "-auto-approve", "-no-color")
    expect(code != 0, "The apply should have been refused.")
    shown = [line.strip("│ ").strip() for line in output.splitlines() if "Sentinel" in line or "agent-scaler" in line]
    expect(
        any("agent-scaler" in line for line in shown), f"Terraform should show who holds the group:\n{output[-1500:]}"
    )
    for line in shown[:4]:
        stage.say("terraform", line, "red")
    expect((await _group(stage))["DesiredCapacity"] == 6, "The group should still have 6 consumers.")  # noqa: PLR2004
    stage.told.append({"terraform": code, "shown": shown})


async def unknown(stage: TourFixtures) -> None:
    """No effect known: held; a human approves; the identical retry is applied once, the one after that is held again."""
    stage.title(9, "A change that Sentinel does not understand")
    client = stage.client("events", "agent", "performance", "schedule")
    rule = {"Name": "nightly-rebalance", "ScheduleExpression": "cron(0 3 * * ? *)"}
    stage.say("call", "events.put_rule(nightly-rebalance)")
    error = await refused(lambda: client.put_rule(**rule))
    await _denied(stage, error, "sentinel approve")
    mutation = error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    consent = await ask(stage.identity("human"), "POST", mutation_path(mutation, "approve"), holds="approver", body={})
    stage.say("human", f"sentinel approve {mutation}   (approver {consent['approver']})")
    reply = await called(lambda: client.put_rule(**rule))
    stage.say("verdict", "the identical call, repeated: allow, applied once", "green")
    for record in (await stage.life(reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]))[:2]:
        stage.show_record(record)
    again = await refused(lambda: client.put_rule(**rule))
    expect("approve" in again.response["Error"]["Message"], "The consent should be spent.")
    stage.say("verdict", "once more: held again, the consent is spent", "yellow")


async def reads(stage: TourFixtures) -> None:
    """Reads pass unchanged and need no motive."""
    stage.title(10, "Reads pass, and need no motive")
    before = len(await stage.records(actor=stage.kept.key("agent").actor))
    group = await _group(stage)
    stage.say(
        "call",
        f"autoscaling.describe_auto_scaling_groups → {len(group['Instances'])} instances, desired {group['DesiredCapacity']}",
    )
    code, output = await stage.terraform("plan", "-refresh-only", "-no-color", "-lock=false")
    expect(code == 0, f"A refresh should pass:\n{output[-1500:]}")
    stage.say("terraform", "plan -refresh-only: every resource read through Sentinel")
    after = len(await stage.records(actor=stage.kept.key("agent").actor))
    expect(before == after, "A read should leave no record.")


async def investigate(stage: TourFixtures) -> None:
    """Who, when, why, on what evidence, what it replaced, and the commit."""
    stage.title(11, "Who set this, and why?")
    stage.say("call", "sentinel blame aws_autoscaling_group.kafka_consumer.desired_capacity")
    query = {"address": "aws_autoscaling_group.kafka_consumer", "attribute": "desired_capacity"}
    story = await ask(stage.identity("human"), "GET", "/blame", holds="attribute", query=query)
    shown = {f"   {name}": str(value) for name, value in story.items() if value not in (None, "", [], {})}
    show_pairs(shown, stage.out)
    text = json.dumps(story)
    for word in ("agent-scaler", "availability", "incident", "ALERT-1207"):
        expect(word in text, f"The story of the attribute should name {word}.")
    verdicts = await stage.records(resource="aws_autoscaling_group.kafka_consumer", intent="cost")
    expect(len(verdicts) == 1, "The ledger should find the cost optimizer's refused call.")
    stage.show_record(verdicts[0])
    stage.told.append({"blame": story})


STEPS: tuple[Step, ...] = (
    scale_out,
    too_far,
    widen_alarm,
    skeleton,
    delete_table,
    open_world,
    optimizer,
    old_apply,
    unknown,
    reads,
    investigate,
)
"""The story, in order. Later steps build on what earlier ones did."""
