resource "aws_cloudwatch_event_bus" "seed" {
  name        = "seed"
  description = "first" # then "second"
  dead_letter_config {
    arn = "arn:aws:sqs:eu-west-1:123456789012:first" # then "arn:aws:sqs:eu-west-1:123456789012:second"
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_cloudwatch_event_rule" "seed" {
  name           = "seed"
  event_bus_name = aws_cloudwatch_event_bus.seed.name
  description    = "first" # then "second"
  event_pattern  = jsonencode({ source = ["first"] }) # then jsonencode({ source = ["second"] })
  role_arn       = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  state          = "ENABLED" # then "DISABLED"
  tags           = { team = "one" } # then { team = "two" }
}

resource "aws_cloudwatch_event_rule" "timed" {
  name                = "timed"
  schedule_expression = "rate(5 minutes)" # then "rate(6 minutes)"
}

resource "aws_cloudwatch_event_target" "seed" {
  rule           = aws_cloudwatch_event_rule.seed.name
  event_bus_name = aws_cloudwatch_event_bus.seed.name
  target_id      = "seed"
  arn            = "arn:aws:sqs:eu-west-1:123456789012:first" # then "arn:aws:sqs:eu-west-1:123456789012:second"
  role_arn       = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  input          = jsonencode({ a = "first" }) # then jsonencode({ a = "second" })
  dead_letter_config {
    arn = "arn:aws:sqs:eu-west-1:123456789012:first" # then "arn:aws:sqs:eu-west-1:123456789012:second"
  }
  retry_policy {
    maximum_event_age_in_seconds = 60 # then 120
    maximum_retry_attempts       = 1 # then 2
  }
}

resource "aws_cloudwatch_event_permission" "seed" {
  statement_id = "seed"
  principal    = "210987654321"
  action       = "events:PutEvents"
}

resource "aws_cloudwatch_event_bus_policy" "seed" {
  event_bus_name = aws_cloudwatch_event_bus.seed.name
  policy         = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "events:PutEvents", Resource = aws_cloudwatch_event_bus.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "events:PutEvents", Resource = aws_cloudwatch_event_bus.seed.arn }] })
}

resource "aws_cloudwatch_event_archive" "seed" {
  name             = "seed"
  description      = "first" # then "second"
  event_source_arn = aws_cloudwatch_event_bus.seed.arn
  event_pattern    = jsonencode({ source = ["first"] }) # then jsonencode({ source = ["second"] })
  retention_days   = 5 # then 6
}

resource "aws_cloudwatch_event_connection" "seed" {
  name               = "seed"
  description        = "first" # then "second"
  authorization_type = "API_KEY"
  auth_parameters {
    api_key {
      key   = "first" # then "second"
      value = "placeholder-one" # then "placeholder-two"
    }
  }
}

resource "aws_cloudwatch_event_api_destination" "seed" {
  name                             = "seed"
  description                      = "first" # then "second"
  invocation_endpoint              = "https://a.example.com/" # then "https://b.example.com/"
  http_method                      = "POST" # then "PUT"
  invocation_rate_limit_per_second = 20 # then 30
  connection_arn                   = aws_cloudwatch_event_connection.seed.arn
}

resource "aws_scheduler_schedule_group" "seed" {
  name = "seed"
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_scheduler_schedule" "seed" {
  name                         = "seed"
  group_name                   = aws_scheduler_schedule_group.seed.name
  description                  = "first" # then "second"
  schedule_expression          = "rate(1 hours)" # then "rate(2 hours)"
  schedule_expression_timezone = "UTC" # then "Europe/Berlin"
  state                        = "ENABLED" # then "DISABLED"
  start_date                   = "2036-01-01T01:00:00Z" # then "2037-01-01T01:00:00Z"
  kms_key_arn                  = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
  flexible_time_window {
    mode                      = "FLEXIBLE"
    maximum_window_in_minutes = 5 # then 6
  }
  target {
    arn      = "arn:aws:sqs:eu-west-1:123456789012:first" # then "arn:aws:sqs:eu-west-1:123456789012:second"
    role_arn = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
    input    = "first" # then "second"
    retry_policy {
      maximum_event_age_in_seconds = 60 # then 120
      maximum_retry_attempts       = 1 # then 2
    }
  }
}

resource "aws_sqs_queue" "seed" {
  name = "truth-pipes"
}

resource "aws_sqs_queue" "second" {
  name = "truth-pipes-target"
}

resource "aws_pipes_pipe" "seed" {
  name        = "seed"
  description = "first" # then "second"
  role_arn    = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  source      = aws_sqs_queue.seed.arn
  target      = aws_sqs_queue.second.arn
  tags        = { team = "one" } # then { team = "two" }
}
