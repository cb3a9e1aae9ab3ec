resource "aws_organizations_organization" "seed" {
  feature_set                   = "ALL"
  aws_service_access_principals = ["config.amazonaws.com"]
  enabled_policy_types          = ["SERVICE_CONTROL_POLICY"] # then ["SERVICE_CONTROL_POLICY", "TAG_POLICY"]
}

resource "aws_organizations_organizational_unit" "seed" {
  name      = "first" # then "second"
  parent_id = aws_organizations_organization.seed.roots[0].id
  tags      = { team = "one" } # then { team = "two" }
}

resource "aws_organizations_policy" "seed" {
  name        = "first" # then "second"
  description = "first" # then "second"
  content     = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "*", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Action = "s3:*", Resource = "*" }] })
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_organizations_policy_attachment" "seed" {
  policy_id = aws_organizations_policy.seed.id
  target_id = aws_organizations_organizational_unit.seed.id
}

resource "aws_budgets_budget" "seed" {
  name         = "seed"
  budget_type  = "COST"
  limit_amount = "100.0"
  limit_unit   = "USD"
  time_unit    = "MONTHLY"
  notification {
    comparison_operator        = "GREATER_THAN"
    threshold                  = 80
    threshold_type             = "PERCENTAGE"
    notification_type          = "ACTUAL"
    subscriber_email_addresses = ["a@example.com"] # then ["b@example.com"]
  }
}

resource "aws_ce_cost_category" "seed" {
  name         = "seed"
  rule_version = "CostCategoryExpression.v1"
  rule {
    value = "first" # then "second"
    rule {
      dimension {
        key           = "LINKED_ACCOUNT_NAME"
        values        = ["a"]
        match_options = ["ENDS_WITH"]
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_backup_vault" "seed" {
  name          = "seed"
  force_destroy = true
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_backup_vault_lock_configuration" "seed" {
  backup_vault_name   = aws_backup_vault.seed.name
  changeable_for_days = 3
  max_retention_days  = 100
  min_retention_days  = 7
}

resource "aws_backup_plan" "seed" {
  name = "first" # then "second"
  rule {
    rule_name         = "daily"
    target_vault_name = aws_backup_vault.seed.name
    schedule          = "cron(0 12 * * ? *)" # then "cron(0 13 * * ? *)"
    start_window      = 60 # then 120
    completion_window = 180 # then 240
    lifecycle {
      delete_after = 14 # then 21
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_backup_report_plan" "seed" {
  name        = "seed"
  description = "first" # then "second"
  report_delivery_channel {
    s3_bucket_name = "first"
    formats        = ["CSV"]
  }
  report_setting {
    report_template = "BACKUP_JOB_REPORT"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_account_alternate_contact" "seed" {
  alternate_contact_type = "OPERATIONS"
  name                   = "First" # then "Second"
  title                  = "First" # then "Second"
  email_address          = "a@example.com" # then "b@example.com"
  phone_number           = "+1234567890" # then "+1234567891"
}

resource "aws_ssoadmin_permission_set" "seed" {
  name             = "seed"
  instance_arn     = "arn:aws:sso:::instance/ssoins-aaaabbbbccccdddd"
  description      = "first" # then "second"
  session_duration = "PT2H" # then "PT3H"
  relay_state      = "https://a.example.com" # then "https://b.example.com"
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_ssoadmin_account_assignment" "seed" {
  instance_arn       = aws_ssoadmin_permission_set.seed.instance_arn
  permission_set_arn = aws_ssoadmin_permission_set.seed.arn
  principal_id       = "9067642ac7-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
  principal_type     = "GROUP"
  target_id          = "123456789012"
  target_type        = "AWS_ACCOUNT"
}

resource "aws_identitystore_group" "seed" {
  identity_store_id = "d-1234567890"
  display_name      = "seed"
  description       = "first"
}

resource "aws_identitystore_user" "seed" {
  identity_store_id = "d-1234567890"
  display_name      = "First"
  user_name         = "seed"
  name {
    given_name  = "First"
    family_name = "Last"
  }
}

resource "aws_identitystore_group_membership" "seed" {
  identity_store_id = "d-1234567890"
  group_id          = aws_identitystore_group.seed.group_id
  member_id         = aws_identitystore_user.seed.user_id
}

resource "aws_lakeformation_resource" "seed" {
  arn      = "arn:aws:s3:::first"
  role_arn = "arn:aws:iam::123456789012:role/first"
}

resource "aws_lakeformation_data_lake_settings" "seed" {
  admins = ["arn:aws:iam::123456789012:role/first"] # then ["arn:aws:iam::123456789012:role/second"]
}

resource "aws_lakeformation_lf_tag" "seed" {
  key    = "seed"
  values = ["one", "two"] # then ["one", "three"]
}

resource "aws_servicecatalog_portfolio" "seed" {
  name          = "first" # then "second"
  description   = "first" # then "second"
  provider_name = "first" # then "second"
}
