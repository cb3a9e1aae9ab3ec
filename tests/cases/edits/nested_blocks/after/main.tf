resource "aws_s3_bucket_versioning" "a" {
  bucket = "b"
  versioning_configuration {
    status     = "Suspended"
    mfa_delete = "Disabled"
  }
}

resource "aws_lambda_function" "f" {
  function_name = "f"

  environment {
    variables = {
      MODE   = "b"
      LONGER = "c"
    }
  }
}

resource "aws_security_group" "s" {
  ingress {
    from_port   = 8443
    cidr_blocks = ["10.0.0.0/8"]
  }

  ingress {
    from_port = 80
    cidr_blocks = [
      # the other one
      "10.2.0.0/16",
      "10.3.0.0/16"
    ]
  }

  dynamic "egress" {
    for_each = local.out
    content {
      from_port   = egress.value.port
      cidr_blocks = egress.value.to
    }
  }
}

locals {
  out = [
    { port = 1, to = ["10.0.0.0/8"] },
    { port = 22, to = ["10.9.0.0/16"] },
  ]
}
