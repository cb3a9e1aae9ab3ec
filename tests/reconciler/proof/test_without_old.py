"""What is planned for replaced resources is planned against a state of our own, which is gone afterwards."""

import json
from pathlib import Path
from typing import Any

from reconciler.proof.propose import ProofContext
from reconciler.proof.without_old import without_old
from reconciler.terraform.cli import Terraform

STATE: dict[str, Any] = {
    "version": 4,
    "resources": [
        {"mode": "managed", "type": "aws_sqs_queue", "name": name, "instances": [{"attributes": {"id": name}}]}
        for name in ("a", "b")
    ],
}


async def test_the_state_lacks_the_old_ones_until_the_end(tmp_path: Path) -> None:
    state = tmp_path / "terraform.tfstate"
    state.write_text(json.dumps(STATE))
    context = ProofContext(
        terraform=Terraform(environment={}, workdir=tmp_path / "w"), root=tmp_path, state=state, keep_plan=True
    )
    async with without_old(context, ["aws_sqs_queue.a"]) as inside:
        assert inside.state is not None
        assert inside.state != state
        assert [each["name"] for each in json.loads(inside.state.read_text())["resources"]] == ["b"]
        assert not inside.keep_plan, "a plan against it says nothing about the stack's own state"
    assert not inside.state.exists()
    assert json.loads(state.read_text()) == STATE
    async with without_old(context, []) as inside:
        assert inside is context
