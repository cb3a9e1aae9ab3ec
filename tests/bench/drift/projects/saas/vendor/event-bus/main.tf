variable "name" {
  type = string
}

variable "rules" {
  type    = any
  default = {}
}

variable "archive_days" {
  type    = number
  default = 0
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_cloudwatch_event_bus" "this" {
  name = var.name
  tags = var.tags
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = var.rules

  name           = "${var.name}-${each.key}"
  description    = lookup(each.value, "description", null)
  event_bus_name = aws_cloudwatch_event_bus.this.name
  event_pattern  = jsonencode({ source = each.value.sources })
  state          = try(each.value.state, "ENABLED")
}

# A dead-letter queue of the bus; its settings are the module's own.
resource "aws_sqs_queue" "failed" {
  name                       = "${var.name}-failed"
  message_retention_seconds  = 1209600
  visibility_timeout_seconds = 30
}

output "name" {
  value = aws_cloudwatch_event_bus.this.name
}
