resource "aws_cloudwatch_log_group" "direct" {
  name              = "/one/direct"
  retention_in_days = 7
}

resource "aws_cloudwatch_log_group" "spare" {
  name              = "/one/spare"
  retention_in_days = 7
}

module "app" {
  source = "../modules/log"

  name = "/one/app"
}

resource "aws_kms_key" "main" {
  description             = "Tiny"
  deletion_window_in_days = 7
}

output "days" {
  value = aws_cloudwatch_log_group.direct.retention_in_days
}
