variable "context" {
  type = any
}

variable "description" {
  type    = string
  default = "Parameter Store KMS master key"
}

variable "deletion_window_in_days" {
  type    = number
  default = 10
}

variable "enable_key_rotation" {
  type    = bool
  default = false
}

variable "alias" {
  type    = string
  default = ""
}

resource "aws_kms_key" "default" {
  count = var.context.enabled ? 1 : 0

  description             = var.description
  deletion_window_in_days = var.deletion_window_in_days
  enable_key_rotation     = var.enable_key_rotation
  tags                    = var.context.tags
}

resource "aws_kms_alias" "default" {
  count = var.context.enabled ? 1 : 0

  name          = coalesce(var.alias, format("alias/%s", var.context.id))
  target_key_id = join("", aws_kms_key.default[*].id)
}

output "key_arn" {
  value = join("", aws_kms_key.default[*].arn)
}
