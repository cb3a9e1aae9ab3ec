resource "aws_cloudwatch_log_group" "seed" {
  name              = "seed"
  retention_in_days = 7 # then 14
  kms_key_id        = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
  tags              = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_cloudwatch_log_stream" "seed" {
  name           = "seed"
  log_group_name = aws_cloudwatch_log_group.seed.name
}

resource "aws_cloudwatch_log_metric_filter" "seed" {
  name           = "seed"
  log_group_name = aws_cloudwatch_log_group.seed.name
  pattern        = "ERROR" # then "WARN"
  metric_transformation {
    name          = "errors" # then "warnings"
    namespace     = "First" # then "Second"
    value         = "1" # then "2"
    default_value = "0" # then "3"
    unit          = "Count" # then "Bytes"
  }
}

resource "aws_kinesis_stream" "seed" {
  name        = "truth-logs"
  shard_count = 1
}

resource "aws_cloudwatch_log_subscription_filter" "seed" {
  name            = "seed"
  log_group_name  = aws_cloudwatch_log_group.seed.name
  filter_pattern  = "ERROR" # then "WARN"
  destination_arn = aws_kinesis_stream.seed.arn
  role_arn        = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  distribution    = "ByLogStream" # then "Random"
}

resource "aws_cloudwatch_log_destination" "seed" {
  name       = "seed"
  role_arn   = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  target_arn = aws_kinesis_stream.seed.arn
  tags       = { team = "one" } # then { team = "two" }
}

resource "aws_cloudwatch_log_destination_policy" "seed" {
  destination_name = aws_cloudwatch_log_destination.seed.name
  access_policy    = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "210987654321" }, Action = "logs:PutSubscriptionFilter", Resource = aws_cloudwatch_log_destination.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = { AWS = "210987654321" }, Action = "logs:PutSubscriptionFilter", Resource = aws_cloudwatch_log_destination.seed.arn }] })
}

resource "aws_cloudwatch_log_resource_policy" "seed" {
  policy_name     = "seed"
  policy_document = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "es.amazonaws.com" }, Action = "logs:PutLogEvents", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "es.amazonaws.com" }, Action = "logs:CreateLogStream", Resource = "*" }] })
}
