resource "aws_cloudwatch_log_group" "this" {
  for_each = local.active

  name              = "/${local.id}/${each.key}"
  retention_in_days = try(each.value.days, var.retention_days)
  tags              = merge(local.tags, try(each.value.tags, {}), { Source = each.key })
}

resource "aws_cloudwatch_log_metric_filter" "this" {
  for_each = local.filters

  name           = "${local.id}-${each.key}"
  log_group_name = aws_cloudwatch_log_group.this[each.value.source].name
  pattern        = each.value.pattern

  metric_transformation {
    name      = each.key
    namespace = local.id
    value     = "1"
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.filters

  alarm_name          = "${local.id}-${each.key}"
  alarm_description   = try(each.value.about, "Counts ${each.key}")
  namespace           = local.id
  metric_name         = aws_cloudwatch_log_metric_filter.this[each.key].metric_transformation[0].name
  statistic           = "Sum"
  comparison_operator = "GreaterThanOrEqualToThreshold"
  period              = each.value.period
  evaluation_periods  = each.value.periods
  threshold           = each.value.threshold
  alarm_actions       = [module.topic[each.value.severity].arn]
}

module "topic" {
  source   = "./vendor/sns-topic"
  for_each = local.topics

  context      = local.context
  name         = each.key
  display_name = lookup(each.value, "display_name", null)
  subscribers  = lookup(each.value, "subscribers", {})
}

module "intake" {
  source   = "./modules/intake"
  for_each = { for name, intake in var.intakes : name => intake if local.enabled && intake.enabled }

  context = merge(local.context, { id = "${local.id}-${each.key}" })
  intake  = each.value
}

module "key" {
  source = "./vendor/kms-key"

  context     = local.context
  description = "Logs and findings"
}

module "archive" {
  source = "./vendor/log-storage"

  context = local.context
  name    = "archive"
}

resource "aws_s3_bucket" "exports" {
  bucket = "${local.id}-exports"
  tags   = local.tags
}

resource "aws_s3_bucket_versioning" "exports" {
  bucket = aws_s3_bucket.exports.id

  versioning_configuration {
    status = "Suspended"
  }
}

resource "aws_dynamodb_table" "incidents" {
  name           = "${local.id}-incidents"
  billing_mode   = "PROVISIONED"
  read_capacity  = var.capacity.read
  write_capacity = var.capacity.write
  hash_key       = "id"
  tags           = local.tags

  attribute {
    name = "id"
    type = "S"
  }
}
