resource "aws_cloudfront_origin_access_identity" "seed" {
  comment = "first" # then "second"
}

resource "aws_cloudfront_origin_access_control" "seed" {
  name                              = "first" # then "second"
  description                       = "first" # then "second"
  origin_access_control_origin_type = "s3"
  signing_behavior                  = "always" # then "never"
  signing_protocol                  = "sigv4"
}

resource "aws_cloudfront_distribution" "seed" {
  enabled             = true # then false
  comment             = "first" # then "second"
  default_root_object = "a.html" # then "b.html"
  price_class         = "PriceClass_100" # then "PriceClass_200"
  http_version        = "http2" # then "http1.1"
  is_ipv6_enabled     = true # then false
  wait_for_deployment = false
  aliases             = ["a.example.com"] # then ["b.example.com"]
  origin {
    origin_id   = "seed"
    domain_name = "a.example.org" # then "b.example.org"
    custom_origin_config {
      http_port              = 80 # then 81
      https_port             = 443
      origin_protocol_policy = "https-only" # then "http-only"
      origin_ssl_protocols   = ["TLSv1.2"]
    }
  }
  default_cache_behavior {
    target_origin_id       = "seed"
    viewer_protocol_policy = "redirect-to-https" # then "https-only"
    allowed_methods        = ["GET", "HEAD"] # then ["GET", "HEAD", "OPTIONS"]
    cached_methods         = ["GET", "HEAD"]
    compress               = false # then true
    min_ttl                = 0 # then 1
    default_ttl            = 100 # then 200
    max_ttl                = 1000 # then 2000
    forwarded_values {
      query_string = false # then true
      cookies {
        forward = "none" # then "all"
      }
    }
  }
  restrictions {
    geo_restriction {
      restriction_type = "whitelist" # then "blacklist"
      locations        = ["US"] # then ["DE"]
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_cloudfront_public_key" "seed" {
  name        = "seed"
  comment     = "seed"
  encoded_key = "-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCsCiMqzLNlAzAdgVSR8FyJRNNiPKaPYgCTyrnFLnNRwCSuA3x2mDHmGeQeGTfhQUVAZXrxbUoITxONr7g4ib7shl9gL0ggnMPrB6wnpRTyHlYEZR5evtB1aBIv0wA95K7zxgNOQZCY1MMBzYNFRmkgHe6NxCOLpFBQSLoU2SjrfwIDAQAB\n-----END PUBLIC KEY-----\n"
}

resource "aws_cloudfront_key_group" "seed" {
  name  = "seed"
  items = [aws_cloudfront_public_key.seed.id]
}
