resource "aws_cloudwatch_metric_alarm" "seed" {
  alarm_name                = "seed"
  alarm_description         = "first" # then "second"
  comparison_operator       = "GreaterThanThreshold" # then "LessThanThreshold"
  evaluation_periods        = 2 # then 3
  datapoints_to_alarm       = 1 # then 2
  metric_name               = "First" # then "Second"
  namespace                 = "First" # then "Second"
  period                    = 60 # then 120
  statistic                 = "Average" # then "Maximum"
  threshold                 = 80 # then 90.5
  unit                      = "Count" # then "Bytes"
  actions_enabled           = true # then false
  treat_missing_data        = "breaching" # then "ignore"
  alarm_actions             = ["arn:aws:sns:eu-west-1:123456789012:first"] # then ["arn:aws:sns:eu-west-1:123456789012:second"]
  ok_actions                = ["arn:aws:sns:eu-west-1:123456789012:first"] # then ["arn:aws:sns:eu-west-1:123456789012:second"]
  insufficient_data_actions = ["arn:aws:sns:eu-west-1:123456789012:first"] # then ["arn:aws:sns:eu-west-1:123456789012:second"]
  dimensions                = { A = "b" } # then { A = "c" }
  tags                      = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_cloudwatch_dashboard" "seed" {
  dashboard_name = "seed"
  dashboard_body = jsonencode({ widgets = [{ type = "text", x = 0, y = 0, width = 3, height = 3, properties = { markdown = "first" } }] }) # then jsonencode({ widgets = [{ type = "text", x = 0, y = 0, width = 3, height = 3, properties = { markdown = "second" } }] })
}

resource "aws_cloudwatch_contributor_insight_rule" "seed" {
  rule_name       = "seed"
  rule_state      = "ENABLED" # then "DISABLED"
  rule_definition = jsonencode({ Schema = { Name = "CloudWatchLogRule", Version = 1 }, LogGroupNames = ["a"], LogFormat = "JSON", Contribution = { Keys = ["$.a"], Filters = [] }, AggregateOn = "Count" })
}
