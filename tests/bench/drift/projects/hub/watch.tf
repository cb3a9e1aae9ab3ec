module "flow_log" {
  source   = "./vendor/flow-log"
  for_each = local.networks

  name      = "${local.name}-${each.key}"
  vpc_id    = aws_vpc.this[each.key].id
  retention = try(each.value.flow_log_days, local.settings.flow_log_days)
}

module "duty" {
  source = "./vendor/notify"

  name = "${local.name}-duty"
  tags = local.tags
}

module "management" {
  source = "./vendor/notify"

  name         = "${local.name}-management"
  display_name = "Network management"
  queue        = { visibility = 300 }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${local.name}-${each.key}"
  alarm_description   = "See the runbook ${each.key}"
  namespace           = "Hub"
  metric_name         = each.value.metric
  comparison_operator = "GreaterThanThreshold"
  statistic           = merge(local.alarm_defaults, each.value).statistic
  period              = merge(local.alarm_defaults, each.value).period
  evaluation_periods  = lookup(merge(local.alarm_defaults, each.value), "evaluation_periods", 1)
  threshold           = try(each.value.threshold, var.tunnel_threshold)
  alarm_actions       = [module.duty.topic_arn]
}

resource "aws_s3_bucket" "reports" {
  bucket = "${local.name}-reports"
  tags   = local.tags
}

resource "aws_s3_bucket_public_access_block" "reports" {
  bucket = aws_s3_bucket.reports.id

  block_public_acls       = true
  block_public_policy     = false
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "reports" {
  bucket = aws_s3_bucket.reports.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "Auditors", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:role/auditor" }, Action = "s3:GetObject", Resource = "${aws_s3_bucket.reports.arn}/*" },
    ]
  })
}
