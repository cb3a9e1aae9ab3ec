resource "aws_s3_bucket" "assets" {
  bucket = "shop-assets"
}

resource "aws_s3_bucket_versioning" "assets" {
  bucket = aws_s3_bucket.assets.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_public_access_block" "assets" {
  bucket = aws_s3_bucket.assets.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket" "logs" {
  bucket = "shop-logs"

  tags = {
    team = "shop"
  }
}

resource "aws_dynamodb_table" "orders" {
  name                        = "orders"
  billing_mode                = "PROVISIONED"
  read_capacity               = 5
  write_capacity              = 5
  hash_key                    = "id"
  deletion_protection_enabled = false

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_db_instance" "shop" {
  identifier                  = "shop"
  engine                      = "postgres"
  engine_version              = "15.4"
  instance_class              = var.db_class
  allocated_storage           = 20
  db_name                     = "shop"
  username                    = "shop"
  manage_master_user_password = true
  multi_az                    = false
  publicly_accessible         = false
  deletion_protection         = false
  skip_final_snapshot         = true
  apply_immediately           = true
}

resource "aws_secretsmanager_secret" "token" {
  name        = "shop/token"
  description = "Token of the payment provider"
}

resource "aws_ssm_parameter" "limit" {
  name  = "/shop/limit"
  type  = "String"
  tier  = local.parameter_tier
  value = "100"
}

resource "aws_route53_zone" "main" {
  name = "shop.example.org"
}

resource "aws_route53_record" "www" {
  zone_id = aws_route53_zone.main.zone_id
  name    = "www.shop.example.org"
  type    = "A"
  ttl     = 300
  records = ["192.0.2.10"]
}
