resource "aws_sqs_queue" "a" {
  name   = "a-${var.env}"
  policy = jsonencode({ a = 1 })
  kms    = aws_kms_key.k.arn
  text   = <<-EOT
    hello
  EOT
  digest = md5("x")
  list   = [for x in ["a"] : upper(x)]
}

variable "env" {
  default = "dev"
}

module "remote" {
  source = "terraform-aws-modules/vpc/aws"
  size   = local.size
}

locals {
  size = 5
}

resource "aws_sqs_queue" "b" {
  delay_seconds    = 6
  max_message_size = module.remote.size
}

resource "aws_sqs_queue" "c" {
  delay_seconds = aws_sqs_queue.e.delay_seconds
}

resource "aws_sqs_queue" "e" {
  delay_seconds = 5
}
