"""`sentinel tour`: eleven steps against a running `sentinel up`; each prints what it does and checks the result."""

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import UP_DIRECTORY, call_api, mutation_path
from gateway.cli.demo.credentials import NoIdentity, read_credentials
from gateway.cli.demo.tour_fixtures import ASG, Step, TourFailed, TourFixtures, expect, expect_refused, in_thread
from gateway.cli.options import Json
from gateway.cli.output import AnyConsole, console, error_console, run, show_json, show_pairs

INCIDENT = 'incident; evidence=ALERT-1207; text="consumer lag over five minutes"'


def tour(
    *,
    home: Annotated[Path, typer.Option(help="Directory of the running `sentinel up`.")] = UP_DIRECTORY,
    as_json: Json = False,
) -> None:
    """Show what Sentinel does, in eleven steps with boto3 and Terraform against the running gateway.

    Exit code 1 if a step does not have the expected result. With --json, what each step observed is printed at the end.
    """
    fixtures = run(_run_steps(home.resolve(), error_console if as_json else console), as_json=as_json, speaks=True)
    if as_json:
        show_json({"steps": fixtures.observations})
    else:
        console.print("\n[green]Every step had the expected result.[/green]")


async def _run_steps(home: Path, out: AnyConsole) -> TourFixtures:
    from botocore.exceptions import BotoCoreError, ClientError

    from gateway.core.settings import CONFIG_FILE, read_settings

    credentials = read_credentials(home)
    if credentials is None:
        raise NoIdentity(
            f"There is no `sentinel up` in {home}. Start `make up` (or `sentinel up`) first, and keep it running."
        )
    fixtures = TourFixtures(home=home, credentials=credentials, settings=read_settings(home / CONFIG_FILE), out=out)
    try:
        await _check_start(fixtures)
        for step in STEPS:
            await step(fixtures)
    except BotoCoreError as error:
        raise TourFailed(f"No response from Sentinel: {error} Is `sentinel up` still running?") from error
    except ClientError as error:
        raise TourFailed(f"This call should have been allowed, but was refused: {error}") from error
    return fixtures


async def _check_start(fixtures: TourFixtures) -> None:
    """Raise TourFailed if a condition for the tour is missing: Terraform, or the initial state of the example stack."""
    if shutil.which(fixtures.settings.reconcile.terraform) is None:
        raise TourFailed("The tour needs Terraform, which is not on PATH. Install it, then start `sentinel up` again.")
    consumers = (await _group(fixtures))["DesiredCapacity"]
    if consumers != 4:  # noqa: PLR2004  the value in the example's terraform.tfvars
        raise TourFailed(
            f"The tour starts with 4 consumers, but there are {consumers}. Start over with `sentinel up --fresh`."
        )


async def _group(fixtures: TourFixtures) -> Any:
    reply = await in_thread(
        lambda: fixtures.client("autoscaling", "agent").describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])
    )
    expect(reply["AutoScalingGroups"], "The example stack is not applied. `sentinel up --apply` applies it.")
    return reply["AutoScalingGroups"][0]


def _mutation_id(response: Any) -> str:
    """The mutation id in the headers of a boto3 response."""
    return str(response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])


async def scale_out(fixtures: TourFixtures) -> None:
    """Allowed, applied once, recorded before and after, written into terraform.tfvars."""
    fixtures.title(1, "The agent scales out in an incident")
    fixtures.show("call", f"autoscaling.set_desired_capacity({ASG}, 6)   intent availability, motivation incident")
    client = fixtures.client("autoscaling", "agent", "availability", INCIDENT)
    reply = await in_thread(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6))
    mutation = _mutation_id(reply)
    expect((await _group(fixtures))["DesiredCapacity"] == 6, "The group should have 6 consumers now.")  # noqa: PLR2004
    fixtures.show("verdict", "allow, applied", "green")
    await _expect_written_back(fixtures, mutation, "terraform.tfvars")


async def _expect_written_back(fixtures: TourFixtures, mutation: str, file: str) -> None:
    """Show records, diff, proofs and commit of a change that must be written back to `file`."""
    for record in (await fixtures.mutation_records(mutation))[:2]:
        fixtures.show_record(record)
    body = await fixtures.reconciliation_of(mutation)
    expect(body.get("commit"), f"{mutation} should have been committed, but the record says: {json.dumps(body)[:500]}")
    expect(file in json.dumps(body["files"]), f"The edit should be in {file}, not {body['files']}.")
    fixtures.show_diff(body["diff"])
    proofs = {proof["name"]: proof["held"] for proof in body["proofs"]}
    fixtures.show("plan", f"proofs: {', '.join(name for name, held in proofs.items() if held)}", "green")
    expect(proofs.get("plan_clean"), "The plan should be clean after the edit.")
    fixtures.show("commit", f"{body['commit'][:12]} on {body['branch']}")
    stages = [record["stage"] for record in await fixtures.mutation_records(mutation)]
    expect(
        stages[:2] == ["decided", "settled"] and "reconciled" in stages,
        f"The ledger should hold DECIDED, SETTLED, RECONCILED, not {stages}.",
    )
    fixtures.observations.append({"mutation": mutation, "stages": stages, **body})


async def too_far(fixtures: TourFixtures) -> None:
    """Refused before AWS is called; the message contains the bound, its file and line, and the nearest legal value."""
    fixtures.title(2, "The agent asks for 20")
    fixtures.show("call", f"autoscaling.set_desired_capacity({ASG}, 20)")
    client = fixtures.client("autoscaling", "agent", "availability", INCIDENT)
    error = await expect_refused(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=20))
    await _show_refusal(fixtures, error, "max", "kafka.sentinel.hcl:", "16")


async def _show_refusal(fixtures: TourFixtures, error: Any, *words: str) -> None:
    """Show a refusal whose message must contain all of these words."""
    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
    fixtures.show("verdict", f"{code}: {message}", "red")
    missing = [word for word in words if word not in message]
    expect(not missing, f"The message should contain {missing}.")
    mutation = _mutation_id(error.response)
    records = await fixtures.mutation_records(mutation)
    fixtures.show_record(records[-1])
    expect(
        [record["stage"] for record in records] == ["decided"], "A refusal should leave exactly one record, DECIDED."
    )
    fixtures.observations.append({"mutation": mutation, "code": code, "message": message})


async def raise_threshold(fixtures: TourFixtures) -> None:
    """The agent raises an alarm's threshold: within bounds, applied, written back."""
    fixtures.title(3, "The agent raises the threshold of the alarm that triggers scaling")
    fixtures.show("call", "cloudwatch.put_metric_alarm(HighConsumerLagAlarm, Threshold=500000)")
    client = fixtures.client("cloudwatch", "agent", "availability", INCIDENT)
    alarm = (await in_thread(lambda: client.describe_alarms(AlarmNames=["HighConsumerLagAlarm"])))["MetricAlarms"][0]
    names = (
        *("AlarmName", "AlarmDescription", "ActionsEnabled", "AlarmActions", "MetricName", "Namespace", "Statistic"),
        *("Dimensions", "Period", "EvaluationPeriods", "ComparisonOperator"),
    )
    current = {name: alarm[name] for name in names if name in alarm}
    reply = await in_thread(lambda: client.put_metric_alarm(**current, Threshold=500000))
    fixtures.show("verdict", "allow, applied", "green")
    await _expect_written_back(fixtures, _mutation_id(reply), "consumer.tf")


async def unmanaged_resource(fixtures: TourFixtures) -> None:
    """An agent may not change a resource without managed_by_agent."""
    fixtures.title(4, "The agent changes a resource that it does not manage")
    fixtures.show("call", "lambda.update_function_configuration(kafka-rebalancer, MemorySize=512)")
    client = fixtures.client("lambda", "agent", "performance", "routine")
    error = await expect_refused(
        lambda: client.update_function_configuration(FunctionName="kafka-rebalancer", MemorySize=512)
    )
    await _show_refusal(fixtures, error, "managed_by_agent")


async def delete_table(fixtures: TourFixtures) -> None:
    """Refused because of prevent_delete and of the resources that depend on the table."""
    fixtures.title(5, "The agent deletes the table")
    fixtures.show("call", "dynamodb.delete_table(kafka-offsets)")
    client = fixtures.client("dynamodb", "agent", "cost", "budget")
    error = await expect_refused(lambda: client.delete_table(TableName="kafka-offsets"))
    await _show_refusal(fixtures, error, "prevent_delete", "aws_lambda_function.rebalancer")


async def open_ssh(fixtures: TourFixtures) -> None:
    """Refused by a Rego rule; its id and message are shown."""
    fixtures.title(6, "The agent opens SSH to the world")
    fixtures.show("call", "ec2.authorize_security_group_ingress(port 22, 0.0.0.0/0)")
    client = fixtures.client("ec2", "agent", "availability", INCIDENT)
    groups = await in_thread(
        lambda: client.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["kafka-consumer"]}])
    )
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    group = groups["SecurityGroups"][0]["GroupId"]
    error = await expect_refused(lambda: client.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule]))
    await _show_refusal(fixtures, error, "SEN-N001", "22", "0.0.0.0/0")


async def optimizer(fixtures: TourFixtures) -> None:
    """Another agent with a weaker motive is refused; the message says who holds the group, and until when."""
    fixtures.title(7, "A cost optimizer asks for 3 while the incident's claim stands")
    fixtures.show("call", f"autoscaling.set_desired_capacity({ASG}, 3)   intent cost, motivation budget, another agent")
    client = fixtures.client("autoscaling", "optimizer", "cost", "budget; evidence=FIN-88")
    error = await expect_refused(lambda: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=3))
    await _show_refusal(fixtures, error, "agent-scaler", "until")


async def old_apply(fixtures: TourFixtures) -> None:
    """Terraform at the old commit would set 4 again. The same claim refuses it, and Terraform shows why."""
    fixtures.title(8, "The pipeline runs terraform apply from the old commit")
    code, output = await fixtures.terraform("apply", "-auto-approve", "-no-color")
    expect(code != 0, "The apply should have been refused.")
    shown = [line.strip("│ ").strip() for line in output.splitlines() if "Sentinel" in line or "agent-scaler" in line]
    expect(
        any("agent-scaler" in line for line in shown),
        f"Terraform's output should say who holds the group:\n{output[-1500:]}",
    )
    for line in shown[:4]:
        fixtures.show("terraform", line, "red")
    expect((await _group(fixtures))["DesiredCapacity"] == 6, "The group should still have 6 consumers.")  # noqa: PLR2004
    fixtures.observations.append({"terraform": code, "shown": shown})


async def unknown(fixtures: TourFixtures) -> None:
    """No known effects: held. After a human's approval the identical call is applied once; the next one is held again."""
    fixtures.title(9, "A change whose effects Sentinel does not know")
    client = fixtures.client("sns", "agent", "performance", "schedule")
    phone = {"phoneNumber": "+15550100"}
    fixtures.show("call", "sns.opt_in_phone_number(+15550100)")
    error = await expect_refused(lambda: client.opt_in_phone_number(**phone))
    await _show_refusal(fixtures, error, "sentinel approve")
    mutation = _mutation_id(error.response)
    approval = await call_api(
        fixtures.identity("human"), "POST", mutation_path(mutation, "approve"), member="approver", body={}
    )
    fixtures.show("human", f"sentinel approve {mutation}   (approver {approval['approver']})")
    reply = await in_thread(lambda: client.opt_in_phone_number(**phone))
    fixtures.show("verdict", "the identical call again: allow, applied once", "green")
    for record in (await fixtures.mutation_records(_mutation_id(reply)))[:2]:
        fixtures.show_record(record)
    again = await expect_refused(lambda: client.opt_in_phone_number(**phone))
    expect("approve" in again.response["Error"]["Message"], "The approval should be used up.")
    fixtures.show("verdict", "and once more: held, because the approval is used up", "yellow")


async def reads(fixtures: TourFixtures) -> None:
    """Reads pass through unchanged and need no motive."""
    fixtures.title(10, "Reads pass through and need no motive")
    before = await _decisions(fixtures)
    group = await _group(fixtures)
    fixtures.show(
        "call",
        f"autoscaling.describe_auto_scaling_groups → {len(group['Instances'])} instances, desired {group['DesiredCapacity']}",
    )
    code, output = await fixtures.terraform("plan", "-refresh-only", "-no-color", "-lock=false")
    expect(code == 0, f"A refresh should succeed:\n{output[-1500:]}")
    fixtures.show("terraform", "plan -refresh-only: every resource read through Sentinel")
    expect(await _decisions(fixtures) == before, "A read should leave no record.")


async def _decisions(fixtures: TourFixtures) -> int:
    """How many calls of the agent were decided: what it changed before may be written back meanwhile, which is recorded too."""
    return len(await fixtures.records(actor=fixtures.credentials.key("agent").actor, stage="decided"))


async def investigate(fixtures: TourFixtures) -> None:
    """Who, when, why, on what evidence, what it replaced, and the commit."""
    fixtures.title(11, "Who set this, and why?")
    fixtures.show("call", "sentinel blame aws_autoscaling_group.kafka_consumer.desired_capacity")
    query = {"address": "aws_autoscaling_group.kafka_consumer", "attribute": "desired_capacity"}
    history = await call_api(fixtures.identity("human"), "GET", "/blame", member="attribute", query=query)
    shown = {f"   {name}": str(value) for name, value in history.items() if value not in (None, "", [], {})}
    show_pairs(shown, fixtures.out)
    text = json.dumps(history)
    for word in ("agent-scaler", "availability", "incident", "ALERT-1207"):
        expect(word in text, f"The history of the attribute should contain {word}.")
    found = await fixtures.records(resource="aws_autoscaling_group.kafka_consumer", intent="cost")
    expect(len(found) == 1, "The ledger should find the cost optimizer's refused call.")
    fixtures.show_record(found[0])
    fixtures.observations.append({"blame": history})


STEPS: tuple[Step, ...] = (
    scale_out,
    too_far,
    raise_threshold,
    unmanaged_resource,
    delete_table,
    open_ssh,
    optimizer,
    old_apply,
    unknown,
    reads,
    investigate,
)
"""All steps in order. Later steps depend on earlier ones."""
