resource "aws_iam_user" "seed" {
  name                 = "seed"
  path                 = "/first/" # then "/second/"
  permissions_boundary = aws_iam_policy.seed.arn # then aws_iam_policy.second.arn
  force_destroy        = true
  tags                 = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_iam_user" "second" {
  name = "second"
}

resource "aws_iam_user" "third" {
  name          = "third"
  force_destroy = true
}

resource "aws_iam_group" "seed" {
  name = "seed"
  path = "/first/" # then "/second/"
}

resource "aws_iam_group" "second" {
  name = "second"
}

resource "aws_iam_role" "seed" {
  name                 = "seed"
  description          = "first" # then "second"
  max_session_duration = 3600 # then 7200
  permissions_boundary = aws_iam_policy.seed.arn # then aws_iam_policy.second.arn
  assume_role_policy   = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" }, Action = "sts:AssumeRole" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }] })
  tags                 = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_iam_role" "second" {
  name               = "second"
  assume_role_policy = aws_iam_role.seed.assume_role_policy
}

resource "aws_iam_role" "third" {
  name               = "third"
  assume_role_policy = aws_iam_role.seed.assume_role_policy
}

resource "aws_iam_role" "fourth" {
  name               = "fourth"
  assume_role_policy = aws_iam_role.seed.assume_role_policy
}

resource "aws_iam_policy" "seed" {
  name        = "seed"
  description = "seed"
  policy      = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:PutObject", Resource = "*" }] })
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_iam_policy" "second" {
  name   = "second"
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sqs:SendMessage", Resource = "*" }] })
}

resource "aws_iam_policy" "third" {
  name   = "third"
  policy = aws_iam_policy.second.policy
}

resource "aws_iam_role_policy" "seed" {
  name   = "seed"
  role   = aws_iam_role.seed.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:PutObject", Resource = "*" }] })
}

resource "aws_iam_user_policy" "seed" {
  name   = "seed"
  user   = aws_iam_user.second.name
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:PutObject", Resource = "*" }] })
}

resource "aws_iam_group_policy" "seed" {
  name   = "seed"
  group  = aws_iam_group.second.name
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:PutObject", Resource = "*" }] })
}

resource "aws_iam_role_policy_attachment" "seed" {
  role       = aws_iam_role.seed.name
  policy_arn = aws_iam_policy.seed.arn
}

resource "aws_iam_user_policy_attachment" "seed" {
  user       = aws_iam_user.second.name
  policy_arn = aws_iam_policy.seed.arn
}

resource "aws_iam_group_policy_attachment" "seed" {
  group      = aws_iam_group.second.name
  policy_arn = aws_iam_policy.seed.arn
}

resource "aws_iam_policy_attachment" "seed" {
  name       = "seed"
  policy_arn = aws_iam_policy.second.arn
  users      = [aws_iam_user.second.name] # then [aws_iam_user.third.name]
  roles      = [aws_iam_role.second.name] # then [aws_iam_role.fourth.name]
  groups     = [aws_iam_group.second.name] # then []
}

resource "aws_iam_group_membership" "seed" {
  name  = "seed"
  group = aws_iam_group.second.name
  users = [aws_iam_user.second.name] # then [aws_iam_user.third.name]
}

resource "aws_iam_group" "third" {
  name = "third"
}

resource "aws_iam_group" "fourth" {
  name = "fourth"
}

resource "aws_iam_user" "fourth" {
  name = "fourth"
}

resource "aws_iam_user_group_membership" "seed" {
  user   = aws_iam_user.fourth.name
  groups = [aws_iam_group.third.name] # then [aws_iam_group.fourth.name]
}

resource "aws_iam_instance_profile" "seed" {
  name = "seed"
  role = aws_iam_role.second.name # then aws_iam_role.third.name
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_iam_user_login_profile" "seed" {
  user                    = aws_iam_user.third.name
  password_reset_required = true
}

resource "aws_iam_account_alias" "seed" {
  account_alias = "truth-seed"
}

resource "aws_iam_account_password_policy" "seed" {
  minimum_password_length        = 10 # then 12
  require_lowercase_characters   = true # then false
  require_numbers                = true # then false
  require_uppercase_characters   = false # then true
  require_symbols                = false # then true
  allow_users_to_change_password = true # then false
  hard_expiry                    = false # then true
  max_password_age               = 90 # then 60
  password_reuse_prevention      = 5 # then 6
}

resource "aws_iam_openid_connect_provider" "seed" {
  url             = "https://accounts.example.com"
  client_id_list  = ["first"] # then ["second"]
  thumbprint_list = ["cf23df2207d99a74fbe169e3eba035e633b65d94"] # then ["df23df2207d99a74fbe169e3eba035e633b65d94"]
  tags            = { team = "one" } # then { team = "two" }
}

resource "aws_iam_service_linked_role" "seed" {
  aws_service_name = "autoscaling.amazonaws.com"
  custom_suffix    = "seed"
  description      = "first" # then "second"
}

resource "aws_iam_user_ssh_key" "seed" {
  username   = aws_iam_user.second.name
  encoding   = "SSH"
  public_key = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCsCiMqzLNlAzAdgVSR8FyJRNNiPKaPYgCTyrnFLnNRwCSuA3x2mDHmGeQeGTfhQUVAZXrxbUoITxONr7g4ib7shl9gL0ggnMPrB6wnpRTyHlYEZR5evtB1aBIv0wA95K7zxgNOQZCY1MMBzYNFRmkgHe6NxCOLpFBQSLoU2Sjrfw== seed@example.com"
  status     = "Active" # then "Inactive"
}

resource "aws_iam_role_policies_exclusive" "seed" {
  role_name    = aws_iam_role.seed.name
  policy_names = [aws_iam_role_policy.seed.name]
}

resource "aws_iam_role_policy_attachments_exclusive" "seed" {
  role_name   = aws_iam_role.third.name
  policy_arns = [aws_iam_policy.seed.arn] # then [aws_iam_policy.seed.arn, aws_iam_policy.third.arn]
}

resource "aws_iam_saml_provider" "seed" {
  name                   = "seed"
  saml_metadata_document = file("saml.xml")
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_iam_server_certificate" "seed" {
  name             = "seed"
  path             = "/first/" # then "/second/"
  certificate_body = file("certificate.pem")
  private_key      = file("private_key.pem")
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_iam_signing_certificate" "seed" {
  user_name        = aws_iam_user.second.name
  certificate_body = file("certificate.pem")
  status           = "Active" # then "Inactive"
}
