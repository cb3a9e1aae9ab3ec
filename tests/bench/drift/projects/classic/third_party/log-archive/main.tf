variable "enabled" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "retention" {
  description = "How long the archive keeps its own log, in days"
  default     = ""
}

variable "role_options" {
  description = "Options of the role: session, path"
  type        = map(string)
  default     = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  count = var.enabled ? 1 : 0
}

resource "aws_cloudwatch_log_group" "default" {
  count = local.count

  name              = "/archive/${var.name}"
  retention_in_days = var.retention != "" ? var.retention : 14
  tags              = var.tags
}

resource "aws_iam_role" "default" {
  count = local.count

  name                 = var.name
  path                 = lookup(var.role_options, "path", "/")
  max_session_duration = lookup(var.role_options, "session", 3600)
  tags                 = var.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "firehose.amazonaws.com" } }]
  })
}

output "role_arn" {
  value = join("", aws_iam_role.default[*].arn)
}
