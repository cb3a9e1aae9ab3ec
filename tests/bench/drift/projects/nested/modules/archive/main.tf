variable "settings" {
  type = object({
    days   = number
    owner  = string
    window = number
  })
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/nested/archive"
  retention_in_days = var.settings.days

  tags = {
    owner = var.settings.owner
  }
}

resource "aws_cloudwatch_log_group" "access" {
  name              = "/nested/archive-access"
  retention_in_days = 30
}

resource "aws_dynamodb_table" "index" {
  name           = "nested-archive"
  billing_mode   = "PROVISIONED"
  read_capacity  = 2
  write_capacity = var.settings.window
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_ssm_parameter" "window" {
  name  = "/nested/archive/window"
  type  = "String"
  value = "every ${var.settings.window} hours"
}
