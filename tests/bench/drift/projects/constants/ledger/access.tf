resource "aws_iam_role" "accountant" {
  name                 = "${local.stack}-accountant"
  max_session_duration = coalesce(var.session_hours, module.org.session_hours) * 3600
  tags                 = local.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = ["arn:aws:iam::123456789012:root"] } }]
  })
}

resource "aws_iam_role_policy" "accountant" {
  name = "books"
  role = aws_iam_role.accountant.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "Statements", Effect = "Allow", Action = ["s3:GetObject", "s3:ListBucket"], Resource = ["${module.statements.arn}", "${module.statements.arn}/*"] },
      { Sid = "Payouts", Effect = "Allow", Action = ["sqs:SendMessage"], Resource = [aws_sqs_queue.this["payouts"].arn] },
    ]
  })
}

resource "aws_iam_role_policy_attachment" "accountant" {
  for_each = toset(["Billing", "ViewOnlyAccess"])

  role       = aws_iam_role.accountant.name
  policy_arn = "arn:aws:iam::aws:policy/job-function/${each.value}"
}

resource "aws_vpc" "ledger" {
  cidr_block = module.org.networks.ledger
  tags       = merge(local.tags, { Name = local.stack })
}

resource "aws_security_group" "database" {
  name        = "${local.stack}-database"
  description = "Who reaches the books"
  vpc_id      = aws_vpc.ledger.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  for_each = toset(concat([module.org.networks.ledger, module.org.networks.cards], ["10.8.0.0/16"]))

  security_group_id = aws_security_group.database.id
  ip_protocol       = "tcp"
  from_port         = 5432
  to_port           = 5432
  cidr_ipv4         = each.value
}
