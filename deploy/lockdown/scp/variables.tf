variable "name" {
  description = "Name of the policy."
  type        = string
  default     = "only-sentinel-writes"
}

variable "targets" {
  description = "Accounts, units or the root that the policy is attached to. Begin with one account."
  type        = list(string)

  validation {
    condition     = alltrue([for target in var.targets : can(regex("^(\\d{12}|ou-[a-z0-9-]+|r-[a-z0-9]+)$", target))])
    error_message = "A target is an account (12 digits), a unit (ou-…) or the root (r-…)."
  }
}

variable "gateway_role_arns" {
  description = "Roles with which gateways send: reconcile.gateway_identity of their settings."
  type        = list(string)

  validation {
    condition     = length(var.gateway_role_arns) > 0 && alltrue([for arn in var.gateway_role_arns : can(regex("^arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]+$", arn))])
    error_message = "Each is the whole ARN of a role, without *: anybody could make a role that a pattern fits."
  }
}

variable "break_glass_arns" {
  description = "Roles that may write in an emergency, beside the gateway. Watch their use."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.break_glass_arns : can(regex("^arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]+$", arn))])
    error_message = "Each is the whole ARN of a role, without *."
  }
}

variable "services" {
  description = "Services whose operations Describe…, Get… and List… stay for everybody. All other operations of all services are the gateway's."
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

variable "read_actions" {
  description = "More operations that only read, e.g. dynamodb:Query, dynamodb:BatchGetItem, logs:FilterLogEvents, cloudtrail:LookupEvents."
  type        = list(string)
  default     = ["cloudtrail:LookupEvents", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan", "logs:FilterLogEvents", "logs:StartQuery", "logs:StopQuery"]

  validation {
    condition     = alltrue([for action in var.read_actions : can(regex("^[a-z0-9-]+:[A-Z][A-Za-z]+$", action)) && !can(regex("^(iam|sts|organizations|kms):", action))])
    error_message = "Each is SERVICE:Operation, and none of iam, sts, organizations or kms."
  }
}

variable "data_actions" {
  description = "Actions on data that applications keep with roles of their own, e.g. s3:PutObject, dynamodb:PutItem, sqs:SendMessage, logs:PutLogEvents."
  type        = list(string)
  default     = ["logs:PutLogEvents", "logs:CreateLogStream", "cloudwatch:PutMetricData", "xray:Put*"]

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
