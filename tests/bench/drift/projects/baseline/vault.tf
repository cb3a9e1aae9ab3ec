module "key" {
  source   = "./vendor/kms"
  for_each = toset(["trail", "evidence"])

  alias = "baseline-${each.key}"
  tags  = var.tags
}

module "logs" {
  source = "./vendor/log-bucket"

  name            = "acme-${var.account}-logs"
  lifecycle_rules = [{ id = "archive", days = 90, class = "GLACIER" }]
  tags            = var.tags
}

module "notify" {
  source = "./vendor/notify"

  name = "baseline"
  tags = var.tags
}

resource "aws_s3_bucket" "evidence" {
  bucket = "acme-${var.account}-evidence"
  tags   = merge(var.tags, { Data = "evidence" })
}

resource "aws_s3_bucket_public_access_block" "evidence" {
  bucket = aws_s3_bucket.evidence.id

  block_public_acls       = true
  block_public_policy     = false
  ignore_public_acls      = true
  restrict_public_buckets = true
}
