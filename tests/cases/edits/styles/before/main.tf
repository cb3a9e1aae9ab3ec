locals {
  colon = { a : 1, b : 2 }
  quoted = {
    "a/b" = "c"
    "d"   = "e"
  }
  commas = {
    a = "1",
    b = "2",
  }
}

resource "aws_sqs_queue" "a" {
  tags = local.colon
}

resource "aws_sqs_queue" "b" {
  tags = local.quoted
}

resource "aws_sqs_queue" "c" {
  tags = local.commas
}
