locals {
  common = {
    team  = "platform"
    owner = "sre"
  }
}

resource "aws_sqs_queue" "a" {
  name = "a"
  tags = merge(local.common, { Name = "a", role = aws_iam_role.x.name })
}

resource "aws_sqs_queue" "b" {
  name = "b"
  tags = merge(local.common, {
    "Name" = "b"
  })
}

resource "aws_sqs_queue" "c" {
  name = "c"
}

resource "aws_sqs_queue" "d" {
  name = "d"
  tags = {
    a   = 1
    bcd = 2 # two
    gone = 3
  }
}

resource "aws_sqs_queue" "e" {
  name = "e"
  tags = {}
}
