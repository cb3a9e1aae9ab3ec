module "database" {
  source = "./vendor/rds"

  identifier        = local.name
  instance_class    = try(var.database.instance_class, "db.t3.medium")
  multi_az          = lookup(var.database, "multi_az", false)
  allocated_storage = var.database_storage
}

module "reporting" {
  source             = "./vendor/rds"
  create_db_instance = false

  identifier = "${local.name}-reporting"
}

module "cache" {
  source = "./vendor/elasticache"

  cluster_id = local.name
}

resource "aws_s3_bucket" "images" {
  bucket = "${local.name}-images"
}

resource "aws_s3_bucket_cors_configuration" "images" {
  bucket = aws_s3_bucket.images.id

  cors_rule {
    allowed_methods = ["GET", "HEAD"]
    allowed_origins = ["https://shop.example.org"]
  }
}
