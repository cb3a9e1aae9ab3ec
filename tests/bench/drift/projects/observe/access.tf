resource "aws_iam_role" "reader" {
  for_each = local.roles

  name                 = "${local.id}-${each.key}"
  max_session_duration = each.value.session
  tags                 = local.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = each.value.service } }]
  })
}

resource "aws_iam_role_policy" "reader" {
  for_each = local.roles

  name = "read"
  role = aws_iam_role.reader[each.key].name

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = each.value.actions, Resource = "*" }]
  })
}

resource "aws_wafv2_ip_set" "blocked" {
  name               = "${local.id}-blocked"
  description        = "Who attacked us"
  scope              = "REGIONAL"
  ip_address_version = "IPV4"
  addresses          = local.blocked
  tags               = local.tags
}
