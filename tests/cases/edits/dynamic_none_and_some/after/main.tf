variable "rules" {
  default = [
    {
      from  = 443
      cidrs = ["10.0.0.0/8"]
    },
  ]
}

variable "environment" {
  default = {
    MODE = "fast"
  }
}

resource "aws_security_group" "s" {
  name = "s"

  dynamic "ingress" {
    for_each = var.rules
    content {
      from_port   = ingress.value.from
      to_port     = lookup(ingress.value, "to", ingress.value.from)
      protocol    = lookup(ingress.value, "protocol", "tcp")
      cidr_blocks = ingress.value.cidrs
    }
  }
}

resource "aws_lambda_function" "f" {
  function_name = "f"

  dynamic "environment" {
    for_each = length(keys(var.environment)) == 0 ? [] : []
    content {
      variables = var.environment
    }
  }
}
