locals {
  # A policy is a file; its name is the file's.
  policies = { for file in fileset("${path.module}/policies", "*.json") : trimsuffix(file, ".json") => file("${path.module}/policies/${file}") }

  attached = merge([for name, role in var.roles : { for policy in role.policies : "${name}:${policy}" => { role = name, policy = policy } }]...)

  contacts = {
    operator = { Contact = "platform@example.com" }
    auditor  = { Contact = "audit@example.com" }
  }
}

resource "aws_iam_account_password_policy" "this" {
  minimum_password_length        = var.password_length
  require_lowercase_characters   = true
  require_uppercase_characters   = true
  require_numbers                = true
  require_symbols                = true
  allow_users_to_change_password = true
}

resource "aws_iam_policy" "this" {
  for_each = local.policies

  name   = each.key
  policy = each.value
}

resource "aws_iam_role" "this" {
  for_each = var.roles

  name                 = each.key
  max_session_duration = coalesce(each.value.hours, var.session_hours) * 3600
  tags                 = merge(var.tags, try(local.contacts[each.key], {}), each.value.tags)

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { AWS = each.value.trusted }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = local.attached

  role       = aws_iam_role.this[each.value.role].name
  policy_arn = aws_iam_policy.this[each.value.policy].arn
}
