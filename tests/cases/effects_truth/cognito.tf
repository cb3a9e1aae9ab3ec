resource "aws_cognito_user_pool" "seed" {
  name                     = "first" # then "second"
  auto_verified_attributes = ["email"] # then []
  deletion_protection      = "ACTIVE" # then "INACTIVE"
  mfa_configuration        = "OFF"
  username_attributes      = ["email"]
  email_verification_subject = "First" # then "Second"
  email_verification_message = "First {####}" # then "Second {####}"
  admin_create_user_config {
    allow_admin_create_user_only = true # then false
  }
  password_policy {
    minimum_length                   = 10 # then 12
    require_lowercase                = true # then false
    require_numbers                  = true # then false
    require_symbols                  = false # then true
    require_uppercase                = true # then false
    temporary_password_validity_days = 5 # then 6
  }
  lambda_config {
    pre_sign_up       = "arn:aws:lambda:eu-west-1:123456789012:function:first" # then "arn:aws:lambda:eu-west-1:123456789012:function:second"
    post_confirmation = "arn:aws:lambda:eu-west-1:123456789012:function:first" # then "arn:aws:lambda:eu-west-1:123456789012:function:second"
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_cognito_user_pool" "bare" {
  name = "bare"
}

resource "aws_cognito_user_pool_client" "seed" {
  name                          = "first" # then "second"
  user_pool_id                  = aws_cognito_user_pool.bare.id
  access_token_validity         = 1 # then 2
  id_token_validity             = 1 # then 2
  refresh_token_validity        = 30 # then 40
  explicit_auth_flows           = ["ALLOW_REFRESH_TOKEN_AUTH"] # then ["ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_USER_SRP_AUTH"]
  callback_urls                 = ["https://a.example.com"] # then ["https://b.example.com"]
  logout_urls                   = ["https://a.example.com"] # then ["https://b.example.com"]
  supported_identity_providers  = ["COGNITO"]
  allowed_oauth_flows           = ["code"] # then ["implicit"]
  allowed_oauth_scopes          = ["email"] # then ["openid"]
  allowed_oauth_flows_user_pool_client = true
  enable_token_revocation       = true # then false
  prevent_user_existence_errors = "ENABLED" # then "LEGACY"
}

resource "aws_cognito_user_pool_domain" "seed" {
  domain       = "truth-seed"
  user_pool_id = aws_cognito_user_pool.bare.id
}

resource "aws_cognito_user_group" "seed" {
  name         = "seed"
  user_pool_id = aws_cognito_user_pool.bare.id
  description  = "first" # then "second"
  precedence   = 1 # then 2
  role_arn     = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
}

resource "aws_cognito_user" "seed" {
  user_pool_id = aws_cognito_user_pool.bare.id
  username     = "seed"
  enabled      = true # then false
  attributes   = { email = "a@example.com" } # then { email = "b@example.com" }
}

resource "aws_cognito_user_in_group" "seed" {
  user_pool_id = aws_cognito_user_pool.bare.id
  group_name   = aws_cognito_user_group.seed.name
  username     = aws_cognito_user.seed.username
}

resource "aws_cognito_resource_server" "seed" {
  identifier   = "https://a.example.com"
  name         = "first" # then "second"
  user_pool_id = aws_cognito_user_pool.bare.id
  scope {
    scope_name        = "read"
    scope_description = "first" # then "second"
  }
}

resource "aws_cognito_identity_provider" "seed" {
  user_pool_id      = aws_cognito_user_pool.bare.id
  provider_name     = "seed"
  provider_type     = "OIDC"
  provider_details  = { authorize_scopes = "email", client_id = "first", client_secret = "placeholder", attributes_request_method = "GET", oidc_issuer = "https://a.example.com", authorize_url = "https://a.example.com/a", token_url = "https://a.example.com/t", attributes_url = "https://a.example.com/u", jwks_uri = "https://a.example.com/j", attributes_url_add_attributes = "false" } # then { authorize_scopes = "openid", client_id = "first", client_secret = "placeholder", attributes_request_method = "GET", oidc_issuer = "https://a.example.com", authorize_url = "https://a.example.com/a", token_url = "https://a.example.com/t", attributes_url = "https://a.example.com/u", jwks_uri = "https://a.example.com/j", attributes_url_add_attributes = "false" }
  attribute_mapping = { email = "email" } # then { email = "mail" }
}

resource "aws_cognito_identity_pool" "seed" {
  identity_pool_name               = "seed"
  allow_unauthenticated_identities = false # then true
  developer_provider_name          = "seed"
  openid_connect_provider_arns     = ["arn:aws:iam::123456789012:oidc-provider/first"] # then ["arn:aws:iam::123456789012:oidc-provider/second"]
  tags                             = { team = "one" } # then { team = "two" }
}
