"""THE ordered list of checks, and what decides by it: the line, and the judge of plans."""

from collections.abc import Callable
from typing import Final

from gateway.app.parts import Parts
from gateway.aws.models.billed_reads import is_billed
from gateway.effects.type_rows import directions_of_types, set_after_creation
from gateway.line.checks.approvers import ApproversPolicy
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.call_class import CallClassCheck
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.contest import ContestPolicy
from gateway.line.checks.dependencies import DependenciesCheck
from gateway.line.checks.derived_rows import DerivedRowsCheck
from gateway.line.checks.fairness import Admission, FairLimitsOf, FairnessCheck
from gateway.line.checks.ground_truth import GroundTruthCheck
from gateway.line.checks.planned_call import PlannedCallCheck
from gateway.line.checks.planned_parameters import PlannedParametersCheck
from gateway.line.checks.policy import GuardrailsCheck
from gateway.line.checks.policy_input import PolicyInputs
from gateway.line.checks.quarantine import QuarantineCheck
from gateway.line.checks.set_off import SetOffCheck
from gateway.line.checks.stops import StopsCheck
from gateway.line.checks.time_box import TimeBoxCheck
from gateway.line.checks.untold_values import BesideCheck, UntoldValuesCheck
from gateway.line.ground_truth import GroundTruth
from gateway.line.pipeline import Pipeline
from gateway.line.read_budget import ReadBudget
from gateway.line.standing import Standing
from gateway.line.survey import Survey
from gateway.plans.beside import effects_beside
from gateway.plans.carried_calls import carried_calls
from gateway.plans.check import PlanCheck
from gateway.plans.open import PlanOpener
from gateway.plans.session_calls import SessionCalls
from gateway.plans.unknown_calls import unknown_calls
from gateway.policy.bundle import RunningEngine

NO_GROUND: Final = GroundTruth()
"""Nothing that Sentinel decides by lies in AWS."""


def checks(
    engine: RunningEngine, quarantined: Callable[[str], str] = lambda _: "", ground: GroundTruth = NO_GROUND
) -> CheckChain:
    """The checks, in the order in which their findings are shown. `quarantined` says why only people may change an address; `ground` is
    what Sentinel itself decides by.
    """
    inputs = PolicyInputs()
    return CheckChain(
        [
            GroundTruthCheck(ground),
            CallClassCheck(),
            StopsCheck(),
            BoundsCheck(),
            DerivedRowsCheck(),
            DependenciesCheck(),
            QuarantineCheck(quarantined),
            SetOffCheck(ground),
            TimeBoxCheck(),
            GuardrailsCheck(engine, engine.packages, inputs),
            FairnessCheck(FairLimitsOf(engine)),
            # Add new checks above this line: arbitration decides which claims end, so it comes last.
            ArbitrationCheck(engine, inputs),
        ],
        rules=engine.rules,
        approvers=ApproversPolicy(engine, inputs),
        contests=ContestPolicy(engine, inputs),
    )


def session_checks(
    engine: RunningEngine, quarantined: Callable[[str], str] = lambda _: "", ground: GroundTruth = NO_GROUND
) -> CheckChain:
    """What the calls of a plan's session are judged by. Bounds, dependencies, guardrails and claims were judged with the plan."""
    inputs = PolicyInputs()
    return CheckChain(
        [
            GroundTruthCheck(ground),
            CallClassCheck(),
            StopsCheck(),
            PlannedCallCheck(),
            QuarantineCheck(quarantined),
            UntoldValuesCheck(BoundsCheck()),
            BesideCheck(BoundsCheck()),
            PlannedParametersCheck(GuardrailsCheck(engine, engine.packages, inputs)),
            UntoldValuesCheck(GuardrailsCheck(engine, engine.packages)),
            FairnessCheck(FairLimitsOf(engine)),
        ],
        rules=engine.rules,
        approvers=ApproversPolicy(engine, inputs),
    )


def open_session_calls(parts: Parts) -> SessionCalls:
    """What judges the calls of plans' sessions."""
    return SessionCalls(
        stacks=parts.stacks,
        ledger=parts.ledger,
        sessions=parts.plan_sessions,
        policy=parts.engine,
        checks=session_checks(parts.engine, parts.drift.quarantined, parts.ground),
        clock=parts.clock,
        rules=parts.engine.plan_rules,
        couplings=parts.engine.couplings,
        prices=parts.engine.prices,
        rows=parts.rows,
        masker=parts.masker,
    )


def open_plan_opener(parts: Parts) -> PlanOpener:
    """What opens the sessions of plans."""
    return PlanOpener(
        check=open_plan_check(parts), sessions=parts.plan_sessions, clock=parts.clock, rules=parts.engine.plan_rules
    )


def open_pipeline(parts: Parts) -> Pipeline:
    """The line that every change goes through, observed if the settings say so."""
    return parts.telemetry.pipeline(
        resolver=parts.resolver,
        survey=Survey(
            stacks=parts.stacks,
            ledger=parts.ledger,
            policy=parts.engine,
            clock=parts.clock,
            proof=parts.signals.proof,
            couplings=parts.engine.couplings,
            prices=parts.engine.prices,
        ),
        checks=checks(parts.engine, parts.drift.quarantined, parts.ground),
        ledger=parts.ledger,
        cloud=parts.aws.aws,
        clock=parts.clock,
        digest_key=parts.digest_key,
        settled=parts.wakeups.wake,
        time_boxes=parts.ledger,
        admission=Admission(FairLimitsOf(parts.engine)),
        planned=open_session_calls(parts),
        ground=parts.ground,
        accounts={stack.name: stack.account for stack in parts.settings.stacks if stack.assume_role},
        reads=ReadBudget(FairLimitsOf(parts.engine), is_billed, parts.clock),
        standing=standing(parts),
    )


def standing(parts: Parts) -> Standing:
    """What looks again at callers whose requests arrive slowly."""
    return Standing(keys=parts.keys, stops=parts.ledger, clock=parts.clock)


def open_plan_check(parts: Parts) -> PlanCheck:
    """What judges plans by the checks of the line."""
    return PlanCheck(
        stacks=parts.stacks,
        ledger=parts.ledger,
        events=parts.ledger,
        policy=parts.engine,
        checks=checks(parts.engine, parts.drift.quarantined, parts.ground),
        clock=parts.clock,
        masker=parts.masker,
        digest_key=parts.digest_key,
        couplings=parts.engine.couplings,
        prices=parts.engine.prices,
        carried=lambda plan, stack: carried_calls(
            plan, stack, parts.resolver, parts.stacks.account(), parts.settings.upstream.default_region
        ),
        beside=lambda plan, stack: effects_beside(
            plan, stack, parts.resolver, parts.stacks.account(), parts.settings.upstream.default_region
        ),
        unknown=lambda plan: unknown_calls(
            plan, directions_of_types(parts.settings.effects.learned), set_after_creation()
        ),
    )
