module "org" {
  source = "../vendor/org"
}

locals {
  stack = "ledger"
  tags  = merge(module.org.tags, lookup(module.org.owners, local.stack, {}), { Stack = local.stack })

  # What other stacks read
  published = merge(
    { alarms = aws_sns_topic.alarms.arn, statements = module.statements.arn },
    { for market, time in var.cutoff : "cutoff-${market}" => time },
  )
}

resource "aws_sns_topic" "alarms" {
  name = "${local.stack}-alarms"
  tags = local.tags
}

resource "aws_ssm_parameter" "published" {
  for_each = local.published

  name  = "/org/${local.stack}/${each.key}"
  type  = "String"
  value = each.value
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = toset(["api", "worker", "audit"])

  name              = "/${local.stack}/${each.key}"
  retention_in_days = lookup(module.org.log_days, each.key, module.org.log_days.default)
  tags              = local.tags
}

resource "aws_sqs_queue" "this" {
  for_each = var.queues

  name                       = "${local.stack}-${each.key}"
  delay_seconds              = each.value.delay
  visibility_timeout_seconds = coalesce(each.value.visibility, module.org.queue.visibility)
  message_retention_seconds  = coalesce(each.value.keep_days, module.org.queue.keep_days) * 86400
  tags                       = local.tags
}

module "statements" {
  source = "../vendor/bucket"

  bucket = "acme-${local.stack}-statements"
  tags   = local.tags
}

module "exports" {
  source = "../vendor/bucket"

  bucket     = "acme-${local.stack}-exports"
  versioning = { status = "Suspended" }
  cors_rule  = [{ allowed_methods = ["GET"], allowed_origins = ["https://books.acme.example"] }]
  tags       = merge(local.tags, { Data = "financial" })
}

resource "aws_kms_key" "ledger" {
  description = "Signs the closing of a day"
  tags        = local.tags
}

resource "aws_cloudwatch_event_rule" "closing" {
  name                = "${local.stack}-closing"
  description         = "Closes the day"
  schedule_expression = "cron(30 23 * * ? *)"
}

resource "aws_cloudwatch_event_target" "closing" {
  rule      = aws_cloudwatch_event_rule.closing.name
  target_id = "closings"
  arn       = aws_sqs_queue.this["closings"].arn
}
