# Services whose calls no hand-made row explains.

resource "aws_cloudwatch_event_bus" "shop" {
  name = "ordinary"
}

resource "aws_cloudwatch_event_rule" "nightly" {
  name                = "ordinary-nightly"
  schedule_expression = "rate(1 day)"
  description         = "Starts the nightly run."
}

resource "aws_cloudwatch_event_target" "nightly" {
  rule      = aws_cloudwatch_event_rule.nightly.name
  target_id = "queue"
  arn       = aws_sqs_queue.orders.arn
}

resource "aws_kinesis_stream" "clicks" {
  name             = "ordinary-clicks"
  shard_count      = 1
  retention_period = 24
}

resource "aws_ecr_repository" "app" {
  name                 = "ordinary/app"
  image_tag_mutability = "IMMUTABLE"
}

resource "aws_elasticache_user" "sessions" {
  user_id       = "ordinary-sessions"
  user_name     = "sessions"
  access_string = "on ~app::* -@all +@read"
  engine        = "REDIS"
  passwords     = ["a-password-of-the-ordinary-stack"]
}

resource "aws_efs_file_system" "shared" {
  creation_token = "ordinary-shared"
  encrypted      = true
}

resource "aws_api_gateway_rest_api" "front" {
  name        = "ordinary-front"
  description = "The front."
}

resource "aws_api_gateway_resource" "orders" {
  rest_api_id = aws_api_gateway_rest_api.front.id
  parent_id   = aws_api_gateway_rest_api.front.root_resource_id
  path_part   = "orders"
}

resource "aws_cognito_user_pool" "users" {
  name = "ordinary-users"
}

resource "aws_cognito_user_pool_client" "web" {
  name         = "ordinary-web"
  user_pool_id = aws_cognito_user_pool.users.id
}

resource "aws_glue_catalog_database" "lake" {
  name = "ordinary_lake"
}
