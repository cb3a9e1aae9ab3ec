variable "index" {
  type = number
}

variable "hours" {
  type = number
}

resource "aws_iam_role" "this" {
  name                 = "nested-worker-${var.index}"
  max_session_duration = var.hours * 3600
  description          = "Worker ${var.index}"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}
