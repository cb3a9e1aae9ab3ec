resource "aws_s3_bucket" "seed" {
  bucket        = "truth-seed"
  force_destroy = true
  tags          = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_s3_bucket" "logs" {
  bucket        = "truth-logs"
  force_destroy = true
}

resource "aws_s3_bucket" "locked" {
  bucket              = "truth-locked"
  object_lock_enabled = true
  force_destroy       = true
}

resource "aws_s3_bucket_ownership_controls" "logs" {
  bucket = aws_s3_bucket.logs.id
  rule {
    object_ownership = "ObjectWriter"
  }
}

resource "aws_s3_bucket_acl" "logs" {
  depends_on = [aws_s3_bucket_ownership_controls.logs]
  bucket     = aws_s3_bucket.logs.id
  acl        = "log-delivery-write"
}

resource "aws_s3_bucket_accelerate_configuration" "seed" {
  bucket = aws_s3_bucket.seed.id
  status = "Enabled" # then "Suspended"
}

resource "aws_s3_bucket_ownership_controls" "seed" {
  bucket = aws_s3_bucket.seed.id
  rule {
    object_ownership = "ObjectWriter" # then "BucketOwnerPreferred"
  }
}

resource "aws_s3_bucket_acl" "seed" {
  depends_on = [aws_s3_bucket_ownership_controls.seed]
  bucket     = aws_s3_bucket.seed.id
  acl        = "private" # then "log-delivery-write"
}

resource "aws_s3_bucket_versioning" "seed" {
  bucket = aws_s3_bucket.seed.id
  versioning_configuration {
    status = "Enabled" # then "Suspended"
  }
}

resource "aws_s3_bucket_versioning" "logs" {
  bucket = aws_s3_bucket.logs.id
  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_policy" "seed" {
  bucket = aws_s3_bucket.seed.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "s3:GetObject", Resource = "${aws_s3_bucket.seed.arn}/*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "s3:GetObject", Resource = "${aws_s3_bucket.seed.arn}/*" }] })
}

resource "aws_s3_bucket_public_access_block" "seed" {
  depends_on              = [aws_s3_bucket_policy.seed]
  bucket                  = aws_s3_bucket.seed.id
  block_public_acls       = true # then false
  block_public_policy     = false # then true
  ignore_public_acls      = true # then false
  restrict_public_buckets = false # then true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "seed" {
  bucket = aws_s3_bucket.seed.id
  rule {
    bucket_key_enabled = false # then true
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "seed" {
  bucket = aws_s3_bucket.seed.id
  rule {
    id     = "first"
    status = "Enabled" # then "Disabled"
    filter {
      prefix = "first/" # then "second/"
    }
    expiration {
      days = 30 # then 60
    }
    noncurrent_version_expiration {
      noncurrent_days = 10 # then 20
    }
    abort_incomplete_multipart_upload {
      days_after_initiation = 3 # then 4
    }
    transition {
      days          = 10 # then 20
      storage_class = "GLACIER"
    }
  }
}

resource "aws_s3_bucket_logging" "seed" {
  depends_on    = [aws_s3_bucket_acl.logs]
  bucket        = aws_s3_bucket.seed.id
  target_bucket = aws_s3_bucket.logs.id
  target_prefix = "first/" # then "second/"
}

resource "aws_s3_bucket_cors_configuration" "seed" {
  bucket = aws_s3_bucket.seed.id
  cors_rule {
    allowed_headers = ["*"] # then ["x-a"]
    allowed_methods = ["GET"] # then ["GET", "PUT"]
    allowed_origins = ["https://a.example.com"] # then ["https://b.example.com"]
    expose_headers  = ["ETag"] # then ["x-b"]
    max_age_seconds = 100 # then 200
  }
}

resource "aws_s3_bucket_website_configuration" "seed" {
  bucket = aws_s3_bucket.seed.id
  index_document {
    suffix = "index.html" # then "main.html"
  }
  error_document {
    key = "error.html" # then "oops.html"
  }
  routing_rule {
    condition {
      key_prefix_equals = "a/"
    }
    redirect {
      replace_key_prefix_with = "b/" # then "c/"
    }
  }
}

resource "aws_sns_topic" "seed" {
  name = "truth-s3"
}

resource "aws_sqs_queue" "seed" {
  name = "truth-s3"
}

resource "aws_s3_bucket_notification" "seed" {
  bucket      = aws_s3_bucket.seed.id
  eventbridge = false # then true
  queue {
    id            = "first"
    queue_arn     = aws_sqs_queue.seed.arn
    events        = ["s3:ObjectCreated:*"] # then ["s3:ObjectRemoved:*"]
    filter_prefix = "first/" # then "second/"
    filter_suffix = ".a" # then ".b"
  }
  topic {
    id        = "second"
    topic_arn = aws_sns_topic.seed.arn
    events    = ["s3:ObjectCreated:Put"] # then ["s3:ObjectCreated:Post"]
  }
}

resource "aws_s3_bucket_object_lock_configuration" "seed" {
  bucket = aws_s3_bucket.locked.id
  rule {
    default_retention {
      mode = "GOVERNANCE" # then "COMPLIANCE"
      days = 5 # then 6
    }
  }
}

resource "aws_s3_bucket_replication_configuration" "seed" {
  depends_on = [aws_s3_bucket_versioning.locked, aws_s3_bucket_versioning.logs]
  bucket     = aws_s3_bucket.locked.id
  role       = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  rule {
    id     = "first"
    status = "Enabled" # then "Disabled"
    priority = 1 # then 2
    filter {
      prefix = "first/" # then "second/"
    }
    delete_marker_replication {
      status = "Disabled" # then "Enabled"
    }
    destination {
      bucket        = aws_s3_bucket.logs.arn
      storage_class = "STANDARD" # then "STANDARD_IA"
    }
  }
}

resource "aws_s3_bucket_versioning" "locked" {
  bucket = aws_s3_bucket.locked.id
  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_inventory" "seed" {
  bucket                   = aws_s3_bucket.seed.id
  name                     = "seed"
  enabled                  = true # then false
  included_object_versions = "All" # then "Current"
  optional_fields          = ["Size"] # then ["Size", "ETag"]
  destination {
    bucket {
      bucket_arn = aws_s3_bucket.logs.arn
      format     = "CSV" # then "ORC"
      prefix     = "first" # then "second"
    }
  }
  schedule {
    frequency = "Daily" # then "Weekly"
  }
}

resource "aws_s3_object" "seed" {
  bucket              = aws_s3_bucket.seed.id
  key                 = "seed"
  content             = "first" # then "second"
  content_type        = "text/plain" # then "text/html"
  cache_control       = "no-cache" # then "no-store"
  content_disposition = "inline" # then "attachment"
  content_encoding    = "identity" # then "utf-8"
  content_language    = "en" # then "de"
  storage_class       = "STANDARD" # then "STANDARD_IA"
  metadata            = { a = "b" } # then { a = "c" }
  website_redirect    = "/a" # then "/b"
  tags                = { team = "one" } # then { team = "two" }
}

resource "aws_s3_object_copy" "seed" {
  bucket       = aws_s3_bucket.seed.id
  key          = "copy"
  source       = "${aws_s3_bucket.seed.id}/${aws_s3_object.seed.key}"
  content_type = "text/plain" # then "text/css"
  tags         = { team = "one" } # then { team = "two" }
}

resource "aws_s3_bucket_object" "seed" {
  bucket        = aws_s3_bucket.seed.id
  key           = "old"
  content       = "first" # then "second"
  cache_control = "no-cache" # then "no-store"
  tags          = { team = "one" } # then { team = "two" }
}
