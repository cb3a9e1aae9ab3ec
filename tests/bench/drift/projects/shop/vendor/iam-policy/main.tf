variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "statements" {
  description = "Statements by name: actions, resources, and effect if it is not Allow"
  type        = any
  default     = {}
}

variable "role" {
  type = string
}

resource "aws_iam_role_policy" "this" {
  count = var.create ? 1 : 0

  name = var.name
  role = var.role
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [for sid, statement in var.statements : {
      Sid      = sid
      Effect   = try(statement.effect, "Allow")
      Action   = statement.actions
      Resource = try(statement.resources, ["*"])
    }]
  })
}
