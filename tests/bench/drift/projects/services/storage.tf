resource "aws_s3_bucket" "media" {
  bucket = "services-media"
}

resource "aws_s3_bucket_versioning" "media" {
  bucket = aws_s3_bucket.media.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket" "archive" {
  bucket = "services-archive"
}

resource "aws_dynamodb_table" "orders" {
  name           = "services-orders"
  billing_mode   = "PROVISIONED"
  read_capacity  = 5
  write_capacity = 5
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_efs_file_system" "shared" {
  creation_token = "services-shared"
}

resource "aws_ecr_repository" "app" {
  name = "services/app"
}

resource "aws_secretsmanager_secret" "token" {
  name = "services/token"
}

resource "aws_ssm_parameter" "limit" {
  name  = "/services/limit"
  type  = "String"
  value = "100"
}

resource "aws_glue_catalog_database" "lake" {
  name = "services_lake"
}
