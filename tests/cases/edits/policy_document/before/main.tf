variable "actions" {
  type    = list(string)
  default = ["s3:GetObject"]
}

data "aws_iam_policy_document" "a" {
  statement {
    sid       = "Read"
    actions   = var.actions
    resources = ["${aws_s3_bucket.b.arn}/*"]
  }

  # Only the inbox.
  statement {
    sid       = "List"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.b.arn]

    condition {
      test     = "StringLike"
      variable = "s3:prefix"
      values   = ["in/*"]
    }
  }

  statement {
    sid     = "Assume"
    effect  = "Deny"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "shared" {
  statement {
    sid       = "Both"
    actions   = ["sqs:SendMessage"]
    resources = ["*"]
  }
}

resource "aws_s3_bucket" "b" {
  bucket = "b"
}

resource "aws_iam_policy" "a" {
  policy = data.aws_iam_policy_document.a.json
}

resource "aws_iam_policy" "one" {
  policy = data.aws_iam_policy_document.shared.json
}

resource "aws_iam_policy" "two" {
  policy = data.aws_iam_policy_document.shared.json
}
