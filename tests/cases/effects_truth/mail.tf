resource "aws_ses_domain_identity" "seed" {
  domain = "seed.example.com"
}

resource "aws_ses_email_identity" "seed" {
  email = "seed@example.com"
}

resource "aws_ses_domain_dkim" "seed" {
  domain = aws_ses_domain_identity.seed.domain
}

resource "aws_ses_domain_mail_from" "seed" {
  domain                 = aws_ses_domain_identity.seed.domain
  mail_from_domain       = "bounce.seed.example.com" # then "other.seed.example.com"
  behavior_on_mx_failure = "UseDefaultValue" # then "RejectMessage"
}

resource "aws_ses_template" "seed" {
  name    = "seed"
  subject = "First" # then "Second"
  html    = "<p>First</p>" # then "<p>Second</p>"
  text    = "First" # then "Second"
}

resource "aws_ses_configuration_set" "seed" {
  name = "seed"
}

resource "aws_ses_event_destination" "seed" {
  name                   = "seed"
  configuration_set_name = aws_ses_configuration_set.seed.name
  enabled                = true
  matching_types         = ["bounce", "send"]
  sns_destination {
    topic_arn = "arn:aws:sns:eu-west-1:123456789012:first"
  }
}

resource "aws_ses_receipt_rule_set" "seed" {
  rule_set_name = "seed"
}

resource "aws_ses_receipt_rule" "seed" {
  name          = "seed"
  rule_set_name = aws_ses_receipt_rule_set.seed.rule_set_name
  recipients    = ["a@example.com"] # then ["b@example.com"]
  enabled       = true # then false
  scan_enabled  = true # then false
  tls_policy    = "Optional" # then "Require"
}

resource "aws_ses_active_receipt_rule_set" "seed" {
  rule_set_name = aws_ses_receipt_rule_set.seed.rule_set_name
}

resource "aws_sesv2_email_identity" "seed" {
  email_identity = "v2.example.com"
  tags           = { team = "one" } # then { team = "two" }
}

resource "aws_sesv2_email_identity_policy" "seed" {
  email_identity = aws_sesv2_email_identity.seed.email_identity
  policy_name    = "seed"
  policy         = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = "ses:SendEmail", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = "ses:SendEmail", Resource = "*" }] })
}

resource "aws_sesv2_dedicated_ip_pool" "seed" {
  pool_name    = "seed"
  scaling_mode = "STANDARD"
}
