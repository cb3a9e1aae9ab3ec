resource "aws_sqs_queue" "orders" {
  name                       = "${local.name}-orders"
  visibility_timeout_seconds = 60
}

resource "aws_sqs_queue" "mail" {
  name = "${local.name}-mail"
}

resource "aws_sns_topic" "events" {
  name = "services-events"
}

resource "aws_sns_topic_subscription" "orders" {
  topic_arn = aws_sns_topic.events.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.orders.arn
}

resource "aws_cloudwatch_event_bus" "shop" {
  name = "services-shop"
}

resource "aws_cloudwatch_event_rule" "placed" {
  name           = "placed"
  event_bus_name = aws_cloudwatch_event_bus.shop.name
  event_pattern  = jsonencode({ source = ["shop"] })
}

resource "aws_cloudwatch_event_target" "placed" {
  rule           = aws_cloudwatch_event_rule.placed.name
  event_bus_name = aws_cloudwatch_event_bus.shop.name
  target_id      = "orders"
  arn            = aws_sqs_queue.orders.arn
}

resource "aws_cloudwatch_log_group" "app" {
  name              = "/services/app"
  retention_in_days = 30
}

resource "aws_cloudwatch_log_metric_filter" "errors" {
  name           = "errors"
  log_group_name = aws_cloudwatch_log_group.app.name
  pattern        = "ERROR"

  metric_transformation {
    name      = "Errors"
    namespace = "Services"
    value     = "1"
  }
}

# Each with a queue and a subscription of its own.
module "inbox" {
  source   = "./modules/inbox"
  for_each = toset(["returns", "complaints"])

  name  = each.key
  topic = aws_sns_topic.events.arn
}
