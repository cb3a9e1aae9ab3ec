terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "account" {
  type = string
}

variable "settings" {
  description = "What is watched in an account"
  type = object({
    finding_days = number
    notice       = optional(string)
    findings = map(object({
      source  = string
      kinds   = optional(list(string))
      enabled = optional(bool, true)
    }))
  })
}

resource "aws_sqs_queue" "findings" {
  name                      = "${var.account}-findings"
  message_retention_seconds = var.settings.finding_days * 86400
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = var.settings.findings

  name  = "${var.account}-${each.key}"
  state = each.value.enabled ? "ENABLED" : "DISABLED"

  event_pattern = jsonencode(merge(
    { source = [each.value.source] },
    each.value.kinds == null ? {} : { "detail-type" = each.value.kinds },
  ))
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = var.settings.findings

  rule      = aws_cloudwatch_event_rule.this[each.key].name
  target_id = "findings"
  arn       = aws_sqs_queue.findings.arn
}

resource "aws_ssm_parameter" "notice" {
  name  = "/${var.account}/notice"
  type  = "String"
  value = coalesce(var.settings.notice, "Belongs to ${var.account}")
}
