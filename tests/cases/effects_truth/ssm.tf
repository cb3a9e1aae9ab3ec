resource "aws_ssm_parameter" "seed" {
  name            = "/seed/first"
  type            = "String"
  description     = "first" # then "second"
  value           = "one" # then "two"
  tier            = "Standard" # then "Advanced"
  allowed_pattern = "^[a-z]+$" # then "^[a-z]*$"
  tags            = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_ssm_parameter" "secure" {
  name   = "/seed/secure"
  type   = "SecureString"
  key_id = "alias/aws/ssm"
  value  = "placeholder-one" # then "placeholder-two"
}

resource "aws_ssm_document" "seed" {
  name            = "seed"
  document_type   = "Command"
  document_format = "JSON"
  content         = jsonencode({ schemaVersion = "2.2", description = "first", mainSteps = [{ action = "aws:runShellScript", name = "a", inputs = { runCommand = ["date"] } }] }) # then jsonencode({ schemaVersion = "2.2", description = "second", mainSteps = [{ action = "aws:runShellScript", name = "a", inputs = { runCommand = ["date"] } }] })
  tags            = { team = "one" } # then { team = "two" }
}

resource "aws_ssm_maintenance_window" "seed" {
  name                       = "first" # then "second"
  description                = "first" # then "second"
  schedule                   = "cron(0 16 ? * TUE *)" # then "cron(0 17 ? * TUE *)"
  schedule_timezone          = "Europe/Berlin" # then "Europe/Rome"
  duration                   = 3 # then 4
  cutoff                     = 1 # then 2
  enabled                    = true # then false
  allow_unassociated_targets = false # then true
  tags                       = { team = "one" } # then { team = "two" }
}

resource "aws_ssm_patch_baseline" "seed" {
  name                                 = "first" # then "second"
  description                          = "first" # then "second"
  operating_system                     = "WINDOWS"
  approved_patches                     = ["KB123456"] # then ["KB123457"]
  approved_patches_compliance_level    = "HIGH" # then "LOW"
  rejected_patches                     = ["KB987654"] # then ["KB987655"]
}

resource "aws_ssm_patch_group" "seed" {
  baseline_id = aws_ssm_patch_baseline.seed.id
  patch_group = "seed"
}
