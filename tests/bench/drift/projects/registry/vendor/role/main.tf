data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = var.trusted_role_services
    }
  }
}

data "aws_iam_policy_document" "inline" {
  count = length(var.inline_policy_statements) > 0 ? 1 : 0

  dynamic "statement" {
    for_each = var.inline_policy_statements

    content {
      sid       = try(statement.value.sid, null)
      actions   = try(statement.value.actions, null)
      effect    = try(statement.value.effect, "Allow")
      resources = try(statement.value.resources, ["*"])
    }
  }
}

resource "aws_iam_role" "this" {
  name                 = var.name
  description          = var.description
  max_session_duration = var.max_session_duration
  assume_role_policy   = data.aws_iam_policy_document.assume.json

  tags = var.tags
}

resource "aws_iam_role_policy" "inline" {
  count = length(var.inline_policy_statements) > 0 ? 1 : 0

  name   = "${var.name}-inline"
  role   = aws_iam_role.this.id
  policy = data.aws_iam_policy_document.inline[0].json
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = var.policies

  role       = aws_iam_role.this.name
  policy_arn = each.value
}
