resource "aws_ecr_repository" "seed" {
  name                 = "seed"
  image_tag_mutability = "MUTABLE" # then "IMMUTABLE"
  force_delete         = true
  image_scanning_configuration {
    scan_on_push = false # then true
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_ecr_repository_policy" "seed" {
  repository = aws_ecr_repository.seed.name
  policy     = jsonencode({ Version = "2008-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = ["ecr:BatchGetImage"] }] }) # then jsonencode({ Version = "2008-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = ["ecr:BatchGetImage"] }] })
}

resource "aws_ecr_lifecycle_policy" "seed" {
  repository = aws_ecr_repository.seed.name
  policy     = jsonencode({ rules = [{ rulePriority = 1, selection = { tagStatus = "untagged", countType = "imageCountMoreThan", countNumber = 10 }, action = { type = "expire" } }] })
}

resource "aws_ecr_registry_policy" "seed" {
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "arn:aws:iam::111111111111:root" }, Action = ["ecr:ReplicateImage"], Resource = ["arn:aws:ecr:eu-west-1:123456789012:repository/*"] }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "arn:aws:iam::111111111111:root" }, Action = ["ecr:ReplicateImage"], Resource = ["arn:aws:ecr:eu-west-1:123456789012:repository/*"] }] })
}

resource "aws_ecr_registry_scanning_configuration" "seed" {
  scan_type = "BASIC" # then "ENHANCED"
  rule {
    scan_frequency = "SCAN_ON_PUSH"
    repository_filter {
      filter      = "first" # then "second"
      filter_type = "WILDCARD"
    }
  }
}

resource "aws_ecr_replication_configuration" "seed" {
  replication_configuration {
    rule {
      destination {
        region      = "us-east-1" # then "us-east-2"
        registry_id = "123456789012"
      }
    }
  }
}

