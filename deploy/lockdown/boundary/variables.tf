variable "name" {
  description = "Name of the policy."
  type        = string
  default     = "sentinel-boundary"
}

variable "account_id" {
  description = "The account that the policy is in."
  type        = string

  validation {
    condition     = can(regex("^\\d{12}$", var.account_id))
    error_message = "An account has 12 digits."
  }
}

variable "services" {
  description = "Services whose operations Describe…, Get… and List… are allowed."
  type        = list(string)
  default = [
    "acm", "apigateway", "application-autoscaling", "autoscaling", "cloudformation", "cloudtrail", "cloudwatch", "config", "dynamodb", "ec2", "ecr", "ecs",
    "eks", "elasticache", "elasticfilesystem", "elasticloadbalancing", "events", "iam", "kafka", "kinesis", "kms", "lambda", "logs", "organizations", "rds",
    "route53", "s3", "scheduler", "secretsmanager", "sns", "sqs", "ssm", "states", "sts", "tag",
  ]

  validation {
    condition     = alltrue([for service in var.services : can(regex("^[a-z0-9-]+$", service))])
    error_message = "Each is a prefix of IAM's actions, e.g. ec2; IAM takes no * for a service."
  }
}

variable "data_actions" {
  description = "Actions on data that these roles keep, e.g. s3:PutObject, sqs:SendMessage."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for action in var.data_actions : can(regex("^[a-z0-9-]+:[A-Z][A-Za-z]+\\*?$", action)) && !can(regex("^(iam|sts|organizations|kms):", action))])
    error_message = "Each is SERVICE:Operation, perhaps with * at its end, and none of iam, sts, organizations or kms."
  }
}

variable "tags" {
  description = "Tags of the policy."
  type        = map(string)
  default     = {}
}
