variable "actions" {
  type    = list(string)
  default = ["s3:GetObject", "s3:PutObject"]
}

data "aws_iam_policy_document" "a" {
  statement {
    sid       = "Read"
    actions   = var.actions
    resources = ["${aws_s3_bucket.b.arn}/*"]

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["true"]
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

    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::123456789012:root"]
    }
  }

  statement {
    sid       = "Tags"
    actions   = ["s3:GetObjectTagging"]
    resources = ["arn:aws:s3:::b/*"]

    condition {
      test     = "StringEquals"
      variable = "aws:PrincipalTag/team"
      values   = ["a", "b"]
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
