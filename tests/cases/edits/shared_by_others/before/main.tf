variable "days" {
  default = 7
}

variable "tags" {
  default = {
    owner = "shop"
    team  = "orders"
  }
}

locals {
  cidrs = ["10.0.0.0/8", "172.16.0.0/12"]
}

resource "aws_cloudwatch_log_group" "a" {
  name              = "a"
  retention_in_days = var.days
  tags              = var.tags
}

resource "aws_cloudwatch_log_group" "b" {
  name              = "b"
  retention_in_days = var.days
  tags              = var.tags
}

resource "aws_sqs_queue" "a" {
  name = "a"
  tags = merge(
    var.tags,
    local.more
  )
}

locals {
  more = { tier = "1" }
}

resource "aws_sqs_queue" "b" {
  name = "b"
  tags = merge(var.tags, local.more)
}

resource "aws_security_group" "a" {
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = local.cidrs
  }
}

resource "aws_security_group" "b" {
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = local.cidrs
  }
}

resource "aws_sns_topic" "a" {
  count = 2
  name  = "a-${count.index}"
  tags  = var.tags
}
