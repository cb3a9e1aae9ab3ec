mock_provider "aws" {}

variables {
  targets           = ["123456789012", "ou-ab12-cdef3456"]
  gateway_role_arns = ["arn:aws:iam::123456789012:role/sentinel-gateway"]
  break_glass_arns  = ["arn:aws:iam::123456789012:role/break-glass"]
}

run "only_the_gateway_writes" {
  command = plan

  assert {
    condition     = jsondecode(aws_organizations_policy.this.content).Statement[0].Effect == "Deny" && length(aws_organizations_policy_attachment.this) == 2
    error_message = "The policy denies, and is attached to each target."
  }

  assert {
    condition     = toset(jsondecode(aws_organizations_policy.this.content).Statement[0].Condition.ArnNotLike["aws:PrincipalArn"]) == toset(["arn:aws:iam::123456789012:role/sentinel-gateway", "arn:aws:iam::123456789012:role/break-glass"])
    error_message = "Somebody beside the gateway and the emergency role may write."
  }

  assert {
    condition     = alltrue([for statement in jsondecode(aws_organizations_policy.this.content).Statement : statement.Effect == "Deny"])
    error_message = "An SCP of ours only takes away."
  }

  assert {
    condition = alltrue([
      for action in jsondecode(aws_organizations_policy.this.content).Statement[0].NotAction :
      can(regex("^[a-z0-9-]+:(Describe|Get|List)\\*$", action)) || can(regex("^(sts|signin|sso|support):", action)) || contains(concat(var.read_actions, var.data_actions), action)
    ])
    error_message = "A write is left out of the denial, or a service is *, which IAM does not take."
  }
}

run "the_gateway_role_is_out_of_reach" {
  command = plan

  assert {
    condition     = contains(jsondecode(aws_organizations_policy.this.content).Statement[1].Action, "sts:AssumeRole") && jsondecode(aws_organizations_policy.this.content).Statement[1].Resource[0] == "arn:aws:iam::123456789012:role/sentinel-gateway"
    error_message = "Others can become the gateway."
  }

  assert {
    condition     = contains(jsondecode(aws_organizations_policy.this.content).Statement[2].Action, "iam:CreateAccessKey")
    error_message = "Keys can be made."
  }
}

run "refuses_patterns_of_roles" {
  command = plan

  variables {
    gateway_role_arns = ["arn:aws:iam::*:role/sentinel*"]
  }

  expect_failures = [var.gateway_role_arns]
}

run "refuses_an_empty_gateway" {
  command = plan

  variables {
    gateway_role_arns = []
  }

  expect_failures = [var.gateway_role_arns]
}

run "refuses_rights_among_data" {
  command = plan

  variables {
    data_actions = ["iam:PutRolePolicy"]
  }

  expect_failures = [var.data_actions]
}

run "refuses_what_is_too_long" {
  command = plan

  variables {
    data_actions = [for number in range(400) : "s3:PutObject${join("", [for letter in split("", tostring(number)) : substr("abcdefghij", tonumber(letter), 1)])}"]
  }

  expect_failures = [aws_organizations_policy.this]
}

run "refuses_a_pattern_of_services" {
  command = plan

  variables {
    services = ["*"]
  }

  expect_failures = [var.services]
}
