resource "aws_s3_bucket" "uploads" {
  bucket = "${local.prefix}-uploads"
}

resource "aws_s3_bucket_cors_configuration" "uploads" {
  bucket = aws_s3_bucket.uploads.id

  cors_rule {
    allowed_methods = ["GET", "PUT"]
    allowed_origins = ["https://app.example.org"]
  }
}

resource "aws_security_group" "proxy" {
  name        = "${local.prefix}-proxy"
  description = "What partners reach"

  ingress {
    description = "partners"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"]
  }
}
