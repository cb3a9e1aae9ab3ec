# Nobody but the gateway changes anything in these accounts. An SCP binds every principal of an account, its root user too; it
# does not bind the management account and service-linked roles.

locals {
  # What is not listed is a write, or a read of a service that nobody named: both are denied. IAM knows no * for a service.
  reads = flatten([for service in var.services : ["${service}:Describe*", "${service}:Get*", "${service}:List*"]])

  statements = concat(
    [
      {
        Sid       = "OnlyTheGatewayWrites"
        Effect    = "Deny"
        NotAction = sort(concat(local.reads, var.read_actions, local.always, var.data_actions))
        Resource  = "*"
        Condition = {
          ArnNotLike = { "aws:PrincipalArn" = local.writers }
          # A service that acts for a principal is bound by that principal's call, which was judged.
          BoolIfExists = { "aws:PrincipalIsAWSService" = "false", "aws:ViaAWSService" = "false" }
        }
      },
      {
        Sid      = "NobodyBecomesTheGateway"
        Effect   = "Deny"
        Action   = ["sts:AssumeRole", "iam:PassRole"]
        Resource = var.gateway_role_arns
        Condition = {
          ArnNotLike   = { "aws:PrincipalArn" = concat(var.gateway_role_arns, var.break_glass_arns) }
          BoolIfExists = { "aws:PrincipalIsAWSService" = "false" }
        }
      },
      {
        Sid      = "NobodyMakesKeys"
        Effect   = "Deny"
        Action   = ["iam:CreateAccessKey", "iam:CreateLoginProfile", "iam:CreateServiceSpecificCredential", "iam:CreateUser", "iam:UpdateAssumeRolePolicy"]
        Resource = "*"
        Condition = {
          ArnNotLike = { "aws:PrincipalArn" = var.break_glass_arns }
        }
      },
      {
        Sid      = "TheTrailStays"
        Effect   = "Deny"
        Action   = ["cloudtrail:StopLogging", "cloudtrail:DeleteTrail", "cloudtrail:UpdateTrail", "cloudtrail:PutEventSelectors"]
        Resource = "*"
        Condition = {
          ArnNotLike = { "aws:PrincipalArn" = var.break_glass_arns }
        }
      },
    ],
  )

  # Who a caller is, and how a role is taken on, change nothing. Which roles can be assumed is said below and by their own policies.
  always  = ["sts:AssumeRole*", "sts:DecodeAuthorizationMessage", "sts:TagSession", "sts:SetSourceIdentity", "signin:*", "sso:*", "support:*"]
  writers = concat(var.gateway_role_arns, var.break_glass_arns)
}

resource "aws_organizations_policy" "this" {
  name        = var.name
  description = "Only Sentinel's gateway changes anything; ${length(var.break_glass_arns)} role(s) may in an emergency."
  type        = "SERVICE_CONTROL_POLICY"
  content     = jsonencode({ Version = "2012-10-17", Statement = local.statements })
  tags        = var.tags

  lifecycle {
    precondition {
      condition     = length(jsonencode({ Version = "2012-10-17", Statement = local.statements })) <= 5120
      error_message = "The policy is longer than the 5,120 characters that an SCP may have: name fewer ARNs, or use * in them."
    }
  }
}

resource "aws_organizations_policy_attachment" "this" {
  for_each = toset(var.targets)

  policy_id = aws_organizations_policy.this.id
  target_id = each.value
}
