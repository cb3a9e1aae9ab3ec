# What every role that people, pipelines and agents still have is bounded by: reading, and what its applications do with data. Changes go through the gateway.

data "aws_partition" "this" {}

locals {
  # The boundary itself, and the roles that have it, stay as they are.
  boundary_arn = "arn:${data.aws_partition.this.partition}:iam::${var.account_id}:policy/${var.name}"

  statements = [
    {
      Sid      = "Read"
      Effect   = "Allow"
      Action   = flatten([for service in var.services : ["${service}:Describe*", "${service}:Get*", "${service}:List*"]])
      Resource = "*"
    },
    {
      Sid      = "Data"
      Effect   = "Allow"
      Action   = sort(concat(var.data_actions, ["sts:GetCallerIdentity"]))
      Resource = "*"
    },
    {
      # These answer with credentials, though their names say that they read.
      Sid      = "NoCredentials"
      Effect   = "Deny"
      Action   = ["sts:AssumeRole", "sts:GetFederationToken", "sts:GetSessionToken", "ecr:GetAuthorizationToken", "redshift:GetClusterCredentials*", "secretsmanager:GetSecretValue", "ssm:GetParametersByPath", "cognito-identity:Get*"]
      Resource = "*"
    },
    {
      Sid      = "TheBoundaryStays"
      Effect   = "Deny"
      Action   = ["iam:DeleteRolePermissionsBoundary", "iam:PutRolePermissionsBoundary", "iam:CreatePolicyVersion", "iam:SetDefaultPolicyVersion", "iam:DeletePolicy"]
      Resource = "*"
    },
  ]
}

resource "aws_iam_policy" "this" {
  name        = var.name
  description = "Boundary: reads and data only; changes go through Sentinel."
  policy      = jsonencode({ Version = "2012-10-17", Statement = local.statements })
  tags        = var.tags
}
