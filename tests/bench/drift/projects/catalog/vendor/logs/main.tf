variable "groups" {
  type = map(object({
    retention = optional(number, 30)
    tags      = optional(map(string), {})
  }))
}

variable "retention_override" {
  type    = map(number)
  default = {}
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = var.groups

  name              = each.key
  retention_in_days = lookup(var.retention_override, each.key, each.value.retention)
  tags              = each.value.tags
}
