resource "aws_acm_certificate" "seed" {
  domain_name               = "seed.example.com"
  subject_alternative_names = ["alt.example.com"]
  validation_method         = "DNS"
  options {
    certificate_transparency_logging_preference = "ENABLED"
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_acm_certificate" "imported" {
  certificate_body = file("certificate.pem")
  private_key      = file("private_key.pem")
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_acm_certificate_validation" "seed" {
  certificate_arn = aws_acm_certificate.seed.arn
}

resource "aws_acmpca_certificate_authority" "seed" {
  type                            = "ROOT"
  usage_mode                      = "GENERAL_PURPOSE"
  permanent_deletion_time_in_days = 7 # then 8
  certificate_authority_configuration {
    key_algorithm     = "RSA_2048"
    signing_algorithm = "SHA256WITHRSA"
    subject {
      common_name = "seed.example.com"
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_acmpca_certificate" "seed" {
  certificate_authority_arn   = aws_acmpca_certificate_authority.seed.arn
  certificate_signing_request = aws_acmpca_certificate_authority.seed.certificate_signing_request
  signing_algorithm           = "SHA256WITHRSA"
  template_arn                = "arn:aws:acm-pca:::template/RootCACertificate/V1"
  validity {
    type  = "YEARS"
    value = 1
  }
}

resource "aws_acmpca_certificate_authority_certificate" "seed" {
  certificate_authority_arn = aws_acmpca_certificate_authority.seed.arn
  certificate               = aws_acmpca_certificate.seed.certificate
  certificate_chain         = aws_acmpca_certificate.seed.certificate_chain
}

resource "aws_acmpca_policy" "seed" {
  resource_arn = aws_acmpca_certificate_authority.seed.arn
  policy       = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = ["acm-pca:ListTags"], Resource = aws_acmpca_certificate_authority.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = ["acm-pca:ListTags"], Resource = aws_acmpca_certificate_authority.seed.arn }] })
}
