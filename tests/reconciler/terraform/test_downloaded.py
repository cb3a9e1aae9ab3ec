"""Downloaded modules are read beside our copy of the code; their calls are edited, and they never."""

import json
from pathlib import Path

from reconciler.model import Wanted
from reconciler.rewrite.edit import edit
from reconciler.terraform.downloaded import link_downloaded

MODULE = 'variable "delay" {\n  default = 0\n}\n\nresource "aws_sqs_queue" "this" {\n  delay_seconds = var.delay\n  kms = 1\n}\n'


def test_the_call_of_a_registry_module_is_edited(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "copy"
    (data / "modules/jobs").mkdir(parents=True)
    (data / "modules/jobs/main.tf").write_text(MODULE)
    rows = [{"Key": "jobs", "Source": "registry.terraform.io/acme/queue/aws", "Dir": f"{data}/modules/jobs"}]
    (data / "modules/modules.json").write_text(json.dumps({"Modules": rows}))
    root.mkdir()
    (root / "main.tf").write_text('module "jobs" {\n  source = "acme/queue/aws"\n}\n')
    link_downloaded(root, data)
    link_downloaded(root, data)

    wanted = [
        Wanted(address="module.jobs.aws_sqs_queue.this", attribute=name, value=5) for name in ("delay_seconds", "kms")
    ]
    result = edit(root, wanted)

    assert result.files == {Path("main.tf"): b'module "jobs" {\n  source = "acme/queue/aws"\n\n  delay = 5\n}\n'}
    (left,) = result.left
    assert "somebody else's code" in left.reason


def test_without_downloads_nothing_is_linked(tmp_path: Path) -> None:
    link_downloaded(tmp_path, None)
    link_downloaded(tmp_path, tmp_path / "data")
    assert not (tmp_path / ".terraform").exists()
