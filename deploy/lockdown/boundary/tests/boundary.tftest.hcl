mock_provider "aws" {
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
}

variables {
  account_id   = "123456789012"
  data_actions = ["sqs:SendMessage", "s3:PutObject"]
}

run "allows_reads_and_data_only" {
  command = plan

  assert {
    condition = alltrue(flatten([
      for statement in jsondecode(aws_iam_policy.this.policy).Statement : [
        for action in statement.Action : statement.Effect == "Deny" || can(regex("^[a-z0-9-]+:(Describe|Get|List)\\*$", action)) || contains(["sqs:SendMessage", "s3:PutObject", "sts:GetCallerIdentity"], action)
      ]
    ]))
    error_message = "The boundary allows a change."
  }

  assert {
    condition     = length(aws_iam_policy.this.policy) <= 6144
    error_message = "A managed policy has at most 6,144 characters."
  }

  assert {
    condition     = anytrue([for statement in jsondecode(aws_iam_policy.this.policy).Statement : statement.Effect == "Deny" && contains(statement.Action, "sts:AssumeRole")])
    error_message = "A bounded role can become another one."
  }

  assert {
    condition     = anytrue([for statement in jsondecode(aws_iam_policy.this.policy).Statement : statement.Effect == "Deny" && contains(statement.Action, "iam:DeleteRolePermissionsBoundary")])
    error_message = "A bounded role can take its boundary off."
  }
}

run "its_arn_is_known_before_it_is_there" {
  command = plan

  assert {
    condition     = output.arn == "arn:aws:iam::123456789012:policy/sentinel-boundary"
    error_message = "Roles cannot name the boundary."
  }
}

run "refuses_rights_among_data" {
  command = plan

  variables {
    data_actions = ["sts:AssumeRole"]
  }

  expect_failures = [var.data_actions]
}
