"""Terraform code of any size in the styles that real stacks have, made up for measuring the reconciler's own work."""

from collections.abc import Iterator
from pathlib import Path

MODULE_RESOURCES = 25
"""Resources in one call of the module."""

_FLAT = """
# The queue of job number {n}.
resource "aws_sqs_queue" "job_{n}" {{
  name                       = "${{local.prefix}}-job-{n}"
  visibility_timeout_seconds = {timeout}
  message_retention_seconds  = var.retention_days * 86400
  delay_seconds              = local.delays["{klass}"]
  receive_wait_time_seconds  = var.env == "prod" ? 20 : 0
  max_message_size           = 262144
  sqs_managed_sse_enabled    = true

  redrive_policy = jsonencode({{
    deadLetterTargetArn = aws_sns_topic.dead.arn
    maxReceiveCount     = 4
  }})

  tags = merge(local.common_tags, {{
    Name  = "job-{n}"
    Class = "{klass}"
  }})

  dynamic "timeouts" {{
    for_each = var.env == "prod" ? [1] : []
    content {{
      create = "5m"
    }}
  }}

  lifecycle {{
    precondition {{
      condition     = var.retention_days < 15
      error_message = "Queues keep messages for 14 days at most."
    }}
  }}
}}
"""
_HEAD = """
variable "env" {
  type    = string
  default = "prod"
}

variable "retention_days" {
  type    = number
  default = 4
}

variable "owner" {
  type    = string
  default = "team-jobs"
}

locals {
  prefix = "shop-${var.env}"
  delays = {
    fast = 0
    slow = 60
  }
  common_tags = {
    Owner = var.owner
    Env   = var.env
  }
}

resource "aws_sns_topic" "dead" {
  name = "${local.prefix}-dead"
}
"""
_CALL = """
module "service_{n}" {{
  source = "./modules/service"

  name    = "service-{n}"
  create  = true
  timeout = {timeout}
  dead    = aws_sns_topic.dead.arn
  tags    = local.common_tags
  queues = {{
    fast = {{ delay = 0, owner = "a" }}
    slow = {{ delay = 60, owner = "b" }}
  }}
}}
"""
_MODULE_HEAD = """
variable "name" {
  type = string
}

variable "create" {
  type    = bool
  default = true
}

variable "timeout" {
  type    = number
  default = 30
}

variable "dead" {
  type = string
}

variable "tags" {
  type    = map(string)
  default = {}
}

variable "queues" {
  type    = any
  default = {}
}
"""
_MODULE_OPTION = """
variable "option_{n}" {{
  description = "Sets the delay of part {n}. Zero delivers at once."
  type        = number
  default     = null
}}

locals {{
  create_{n} = var.create && var.option_{n} != 0
  delay_{n}  = try(coalesce(var.option_{n}, 5), 5)
  tags_{n} = merge(
    var.tags,
    {{ Part = "part-{n}" }},
    {{ for key, queue in var.queues : "queue-${{key}}" => lookup(queue, "owner", "nobody") }},
  )
}}

resource "aws_sqs_queue" "part_{n}" {{
  count = local.create_{n} ? 1 : 0

  name                       = "${{var.name}}-part-{n}"
  visibility_timeout_seconds = var.timeout
  delay_seconds              = local.delay_{n}
  redrive_policy             = jsonencode({{ deadLetterTargetArn = var.dead, maxReceiveCount = 4 }})
  tags                       = local.tags_{n}
}}

output "part_{n}_arn" {{
  description = "The ARN of part {n}."
  value       = try(aws_sqs_queue.part_{n}[0].arn, null)
}}
"""
_FILE = 25


def write_flat(directory: Path, resources: int) -> str:
    """A root of that many queues in blocks of their own, about 35 lines each; returns the address of one of them."""
    _write(directory, "main.tf", _HEAD)
    blocks = [_FLAT.format(n=n, timeout=30 + n % 7, klass="slow" if n % 2 else "fast") for n in range(resources - 1)]
    for number, part in enumerate(_parts(blocks)):
        _write(directory, f"jobs_{number}.tf", "".join(part))
    return f"aws_sqs_queue.job_{resources // 2}"


def write_modules(directory: Path, resources: int) -> str:
    """A root that calls a module of a registry's size for each service; returns the address of one of their queues."""
    calls = resources // MODULE_RESOURCES
    _write(directory, "main.tf", _HEAD)
    _write(directory, "services.tf", "".join(_CALL.format(n=n, timeout=30 + n % 7) for n in range(calls)))
    _write(directory, "modules/service/variables.tf", _MODULE_HEAD)
    options = [_MODULE_OPTION.format(n=n) for n in range(MODULE_RESOURCES)]
    _write(directory, "modules/service/main.tf", "".join(options))
    return f"module.service_{calls // 2}.aws_sqs_queue.part_0[0]"


def write_map(directory: Path, resources: int) -> str:
    """A root with one block over a map of that many entries; returns the address of one of its instances."""
    entries = "".join(f'    job-{n} = {{ timeout = {30 + n % 7}, owner = "team-{n % 5}" }}\n' for n in range(resources))
    block = (
        _FLAT.format(n="x", timeout="each.value.timeout", klass="fast")
        .replace("  name  ", "  for_each = local.jobs\n\n  name  ", 1)
        .replace("job-x", "${each.key}")
    )
    _write(directory, "main.tf", f"{_HEAD}\nlocals {{\n  jobs = {{\n{entries}  }}\n}}\n{block}")
    return f'aws_sqs_queue.job_x["job-{resources // 2}"]'


def lines(directory: Path) -> int:
    """How many lines of Terraform code there are below a directory."""
    return sum(path.read_text().count("\n") for path in directory.rglob("*.tf"))


def _parts(blocks: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(blocks), _FILE):
        yield blocks[start : start + _FILE]


def _write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.lstrip("\n"))
