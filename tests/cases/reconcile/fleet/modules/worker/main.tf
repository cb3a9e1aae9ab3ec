variable "name" {
  type = string
}

variable "sessions" {
  type    = number
  default = 7200
}

resource "aws_iam_role" "this" {
  name                 = "worker-${var.name}"
  max_session_duration = var.sessions

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action    = "sts:AssumeRole"
      Effect    = "Allow"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}
