data "aws_iam_policy_document" "trust" {
  statement {
    sid     = "Services"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "worker" {
  statement {
    sid       = "Read"
    actions   = var.bucket_actions
    resources = ["${aws_s3_bucket.data.arn}/*"]
  }

  statement {
    sid       = "List"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.data.arn]

    condition {
      test     = "StringLike"
      variable = "s3:prefix"
      values   = ["in/*"]
    }
  }
}

data "aws_iam_policy_document" "events" {
  statement {
    sid       = "Publish"
    actions   = ["sqs:SendMessage"]
    resources = ["arn:aws:sqs:eu-west-1:${var.account}:policies-events"]

    principals {
      type        = "AWS"
      identifiers = [local.root]
    }
  }
}
