data "aws_region" "this" {}

data "aws_iam_policy_document" "tasks" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ecs-tasks.amazonaws.com"]
    }
  }
}

# With this role the gateway sends. It is what the lock-down (deploy/lockdown) lets pass: nobody else may assume it.
resource "aws_iam_role" "gateway" {
  name                 = "${var.name}-gateway"
  assume_role_policy   = data.aws_iam_policy_document.tasks.json
  permissions_boundary = var.permissions_boundary_arn
  tags                 = var.tags
}

resource "aws_iam_role_policy_attachment" "gateway" {
  for_each = toset(var.gateway_policy_arns)

  role       = aws_iam_role.gateway.name
  policy_arn = each.value
}

# The reconciler reads and writes through the gateway: it has no rights of its own.
resource "aws_iam_role" "reconciler" {
  name                 = "${var.name}-reconciler"
  assume_role_policy   = data.aws_iam_policy_document.tasks.json
  permissions_boundary = var.permissions_boundary_arn
  tags                 = var.tags
}

# What ECS needs to start the tasks: images, logs, and exactly these secrets.
resource "aws_iam_role" "execution" {
  name                 = "${var.name}-execution"
  assume_role_policy   = data.aws_iam_policy_document.tasks.json
  permissions_boundary = var.permissions_boundary_arn
  tags                 = var.tags
}

resource "aws_iam_role_policy_attachment" "execution" {
  role       = aws_iam_role.execution.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
}

data "aws_iam_policy_document" "secrets" {
  statement {
    actions = ["secretsmanager:GetSecretValue"]
    resources = compact([
      var.master_key_secret_arn,
      var.reconciler_key_secret_arn,
      aws_db_instance.ledger.master_user_secret[0].secret_arn,
    ])
  }
}

resource "aws_iam_role_policy" "secrets" {
  name   = "secrets"
  role   = aws_iam_role.execution.id
  policy = data.aws_iam_policy_document.secrets.json
}
