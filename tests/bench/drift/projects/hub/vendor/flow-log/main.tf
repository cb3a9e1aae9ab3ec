variable "create" {
  type    = bool
  default = true
}

variable "vpc_id" {
  type = string
}

variable "name" {
  type = string
}

variable "retention" {
  type    = number
  default = 365
}

variable "role_session" {
  type    = number
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_cloudwatch_log_group" "this" {
  count = var.create ? 1 : 0

  name              = "/vpc/${var.name}"
  retention_in_days = var.retention
  tags              = merge({ Name = var.name }, var.tags)
}

# Errors of the delivery itself.
resource "aws_cloudwatch_log_group" "delivery" {
  count = var.create ? 1 : 0

  name              = "/vpc-delivery/${var.name}"
  retention_in_days = 7
}

resource "aws_iam_role" "this" {
  count = var.create ? 1 : 0

  name                 = "${var.name}-flow-log"
  max_session_duration = coalesce(var.role_session, 3600)
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "vpc-flow-logs.amazonaws.com" } }]
  })
  tags = var.tags
}

resource "aws_flow_log" "this" {
  count = var.create ? 1 : 0

  vpc_id          = var.vpc_id
  traffic_type    = "ALL"
  iam_role_arn    = aws_iam_role.this[0].arn
  log_destination = aws_cloudwatch_log_group.this[0].arn
  tags            = merge({ Name = var.name }, var.tags)
}

output "log_group" {
  value = try(aws_cloudwatch_log_group.this[0].name, null)
}
