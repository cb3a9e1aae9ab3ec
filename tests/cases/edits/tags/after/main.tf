locals {
  common = {
    team  = "platform"
    owner = "sre"
  }
}

resource "aws_sqs_queue" "a" {
  name = "a"
  tags = merge(local.common, { Name = "x", role = aws_iam_role.x.name, owner = "me" })
}

resource "aws_sqs_queue" "b" {
  name = "b"
  tags = merge(local.common, {
    "Name" = "b"
    "kubernetes.io/name" = "k8s"
  })
}

resource "aws_sqs_queue" "c" {
  name = "c"
  tags = { owner = "me" }
}

resource "aws_sqs_queue" "d" {
  name = "d"
  tags = {
    a   = 1
    bcd = 3 # two
    efghij = "4"
  }
}

resource "aws_sqs_queue" "e" {
  name = "e"
  tags = { owner = "me" }
}
