resource "aws_secretsmanager_secret" "seed" {
  name                    = "seed"
  description             = "first" # then "second"
  kms_key_id              = "alias/first" # then "alias/second"
  recovery_window_in_days = 7 # then 0
  tags                    = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_secretsmanager_secret" "bare" {
  name = "bare"
}

resource "aws_secretsmanager_secret_version" "seed" {
  secret_id     = aws_secretsmanager_secret.seed.id
  secret_string = "first-placeholder" # then "second-placeholder"
}

resource "aws_secretsmanager_secret_version" "bare" {
  secret_id     = aws_secretsmanager_secret.bare.id
  secret_string = "placeholder"
}

resource "aws_secretsmanager_secret_policy" "seed" {
  secret_arn = aws_secretsmanager_secret.seed.arn
  policy     = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "secretsmanager:GetSecretValue", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "secretsmanager:GetSecretValue", Resource = "*" }] })
}
