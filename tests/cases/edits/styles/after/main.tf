locals {
  colon = { b : 2, c : 3 }
  quoted = {
    "a/b"    = "c"
    "d"      = "e"
    "longer" = "z"
  }
  commas = {
    b      = "2",
    longer = "z",
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
