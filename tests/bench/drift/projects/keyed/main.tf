resource "aws_sqs_queue" "work" {
  for_each = var.queues

  name                       = "keyed-${each.key}"
  visibility_timeout_seconds = each.value.visibility
  delay_seconds              = each.value.delay

  tags = merge(local.tags, each.value.tags)
}

resource "aws_cloudwatch_metric_alarm" "depth" {
  for_each = { for name, queue in var.queues : name => queue if queue.alarm_at != null }

  alarm_name          = "depth-${each.key}"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 1
  threshold           = each.value.alarm_at
}

resource "aws_cloudwatch_log_group" "log" {
  for_each = local.logs

  name              = each.key
  retention_in_days = each.value
}

resource "aws_cloudwatch_log_group" "team" {
  for_each = toset(var.teams)

  name              = "/team/${each.key}"
  retention_in_days = lookup(local.team_days, each.key, 14)
}

resource "aws_cloudwatch_log_group" "stream" {
  for_each = { for stream in local.streams : stream.key => stream }

  name              = each.value.name
  retention_in_days = each.value.days
}

resource "aws_cloudwatch_log_group" "shard" {
  count = 2

  name              = "/shard/${count.index}"
  retention_in_days = 14
}

resource "aws_cloudwatch_log_group" "window" {
  for_each = { for number in range(1, 4) : "w${number}" => number * 30 }

  name              = "/window/${each.key}"
  retention_in_days = each.value
}

resource "aws_iam_role" "role" {
  for_each = local.roles

  name                 = "keyed-${each.key}"
  max_session_duration = each.value.hours * 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })

  tags = {
    role = each.key
  }
}

resource "aws_sns_topic" "topic" {
  count = length(var.topics)

  name         = "keyed-${var.topics[count.index]}"
  display_name = var.topic_titles[count.index]
}

resource "aws_ssm_parameter" "limit" {
  for_each = zipmap(var.limit_names, var.limit_values)

  name  = "/keyed/limit/${each.key}"
  type  = "String"
  value = each.value
}

resource "aws_ssm_parameter" "switch" {
  for_each = toset(["checkout", "search"])

  name  = "/keyed/switch/${each.value}"
  type  = "String"
  value = "on"
}

resource "aws_dynamodb_table" "table" {
  for_each = { for table in local.tables : table.name => table }

  name           = "keyed-${each.value.name}"
  billing_mode   = "PROVISIONED"
  read_capacity  = each.value.read
  write_capacity = each.value.write
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_lambda_function" "worker" {
  count = length(local.worker_memory)

  function_name = "keyed-worker-${count.index}"
  role          = aws_iam_role.role["deploy"].arn
  runtime       = "python3.12"
  handler       = "main.handler"
  filename      = "${path.module}/code.zip"
  memory_size   = element(local.worker_memory, count.index)
  timeout       = 10

  environment {
    variables = merge({ INDEX = tostring(count.index) }, { MODE = "batch" })
  }
}
