module "bastion" {
  source   = "./modules/bastion"
  for_each = var.bastions

  name          = "${local.name}-${each.key}"
  instance_type = try(each.value.instance_type, "t3.micro")
  sizes         = { min = each.value.min, max = each.value.max, desired = each.value.desired }
  subnets       = [aws_subnet.this["shared-a"].id, aws_subnet.this["shared-b"].id]
  session_days  = local.settings.session_days
}

resource "aws_iam_role" "engineer" {
  name                 = "${local.name}-engineer"
  max_session_duration = var.engineer_session_hours * 3600
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::123456789012:root" } }]
  })
  tags = local.tags
}

resource "aws_iam_role_policy" "engineer" {
  name = "network"
  role = aws_iam_role.engineer.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "Look", Effect = "Allow", Action = ["ec2:Describe*", "ec2:Get*", "logs:FilterLogEvents"], Resource = "*" },
      { Sid = "Route", Effect = "Allow", Action = ["ec2:CreateRoute", "ec2:ReplaceRoute", "ec2:DeleteRoute"], Resource = "*" },
    ]
  })
}

resource "aws_iam_role_policy_attachment" "engineer" {
  for_each = toset(["NetworkAdministrator", "SupportUser"])

  role       = aws_iam_role.engineer.name
  policy_arn = "arn:aws:iam::aws:policy/job-function/${each.key}"
}
