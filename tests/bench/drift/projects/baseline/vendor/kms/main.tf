variable "create" {
  type    = bool
  default = true
}

variable "alias" {
  type = string
}

variable "description" {
  type    = string
  default = null
}

variable "enable_key_rotation" {
  type    = bool
  default = null
}

variable "settings" {
  description = "Other settings of the key: rotation, deletion_window"
  type        = any
  default     = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_kms_key" "this" {
  count = var.create ? 1 : 0

  description             = coalesce(var.description, "Key of ${var.alias}")
  enable_key_rotation     = try(coalesce(var.enable_key_rotation, lookup(var.settings, "rotation", null)), false)
  deletion_window_in_days = lookup(var.settings, "deletion_window", 30)
  tags                    = var.tags
}

resource "aws_kms_alias" "this" {
  count = var.create ? 1 : 0

  name          = "alias/${var.alias}"
  target_key_id = aws_kms_key.this[0].key_id
}

output "key_arn" {
  value = try(aws_kms_key.this[0].arn, null)
}
