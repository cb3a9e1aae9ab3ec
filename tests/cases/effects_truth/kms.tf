resource "aws_kms_key" "seed" {
  description             = "first" # then "second"
  deletion_window_in_days = 7 # then 8
  enable_key_rotation     = false # then true
  is_enabled              = true # then false
  policy                  = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "kms:*", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "kms:*", Resource = "*" }] })
  tags                    = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_kms_key" "bare" {
  description  = "bare"
  multi_region = true
  lifecycle {
    ignore_changes = [policy]
  }
}

resource "aws_kms_alias" "seed" {
  name          = "alias/seed"
  target_key_id = aws_kms_key.seed.key_id # then aws_kms_key.bare.key_id
}

resource "aws_kms_grant" "seed" {
  name              = "seed"
  key_id            = aws_kms_key.bare.key_id
  grantee_principal = "arn:aws:iam::123456789012:role/seed"
  operations        = ["Encrypt"]
}

resource "aws_kms_key_policy" "seed" {
  key_id = aws_kms_key.bare.key_id
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "kms:*", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "kms:*", Resource = "*" }] })
}

resource "aws_kms_ciphertext" "seed" {
  key_id    = aws_kms_key.bare.key_id
  plaintext = "seed"
}

resource "aws_kms_external_key" "seed" {
  description = "first" # then "second"
  tags        = { team = "one" } # then { team = "two" }
}
