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
  retention_in_days = 30
  tags              = { for key, value in var.tags : key => value if key != "owner" }
}

resource "aws_cloudwatch_log_group" "b" {
  name              = "b"
  retention_in_days = var.days
  tags              = merge(var.tags, { owner = "ada" })
}

resource "aws_sqs_queue" "a" {
  name = "a"
  tags = merge(
    var.tags,
    local.more,
    { owner = "ada" }
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
    cidr_blocks = ["10.0.0.0/8"]
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
  tags  = merge(var.tags, count.index == 1 ? { owner = "ada" } : {})
}
