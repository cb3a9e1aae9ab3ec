resource "aws_dynamodb_table" "seed" {
  name                        = "seed"
  billing_mode                = "PROVISIONED"
  read_capacity               = 5 # then 6
  write_capacity              = 5 # then 7
  hash_key                    = "id"
  range_key                   = "at"
  deletion_protection_enabled = true # then false
  stream_enabled              = true
  stream_view_type            = "NEW_IMAGE"
  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "at"
    type = "N"
  }
  attribute {
    name = "who"
    type = "S"
  }
  global_secondary_index {
    name            = "who"
    hash_key        = "who"
    projection_type = "ALL"
    read_capacity   = 3 # then 4
    write_capacity  = 3 # then 4
  }
  point_in_time_recovery {
    enabled = false # then true
  }
  server_side_encryption {
    enabled = true
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_dynamodb_table" "bare" {
  name             = "bare"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "id"
  table_class      = "STANDARD" # then "STANDARD_INFREQUENT_ACCESS"
  stream_enabled   = true # then false
  stream_view_type = "KEYS_ONLY"
  attribute {
    name = "id"
    type = "S"
  }
  lifecycle {
    ignore_changes = [tags]
  }
}

resource "aws_dynamodb_table_item" "seed" {
  table_name = aws_dynamodb_table.bare.name
  hash_key   = aws_dynamodb_table.bare.hash_key
  item       = jsonencode({ id = { S = "one" }, a = { S = "first" } }) # then jsonencode({ id = { S = "one" }, a = { S = "second" } })
}

resource "aws_dynamodb_tag" "seed" {
  resource_arn = aws_dynamodb_table.bare.arn
  key          = "seed"
  value        = "first" # then "second"
}

resource "aws_dynamodb_resource_policy" "seed" {
  resource_arn = aws_dynamodb_table.bare.arn
  policy       = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "dynamodb:GetItem", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "dynamodb:PutItem", Resource = "*" }] })
}
