variable "vpc_id" {
  description = "VPC of the gateways."
  type        = string
}

variable "region" {
  description = "Region of the VPC."
  type        = string
}

variable "subnet_ids" {
  description = "Subnets of the interface endpoints."
  type        = list(string)
}

variable "security_group_ids" {
  description = "Security groups of the interface endpoints: port 443 from the gateways."
  type        = list(string)
}

variable "route_table_ids" {
  description = "Route tables that lead to the gateway endpoints."
  type        = list(string)
  default     = []
}

variable "interface_services" {
  description = "Services that the gateway calls, e.g. ec2, autoscaling, sts."
  type        = list(string)
  default     = ["sts", "ec2", "autoscaling"]
}

variable "gateway_services" {
  description = "Services with gateway endpoints: s3, dynamodb."
  type        = list(string)
  default     = ["s3"]

  validation {
    condition     = length(setsubtract(var.gateway_services, ["s3", "dynamodb"])) == 0
    error_message = "Only s3 and dynamodb have gateway endpoints."
  }
}

variable "gateway_role_arns" {
  description = "Roles with which gateways send."
  type        = list(string)

  validation {
    condition     = length(var.gateway_role_arns) > 0 && alltrue([for arn in var.gateway_role_arns : can(regex("^arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]+$", arn))])
    error_message = "Each is the whole ARN of a role, without *."
  }
}

variable "organization_id" {
  description = "Your organization."
  type        = string

  validation {
    condition     = can(regex("^o-[a-z0-9]{10,32}$", var.organization_id))
    error_message = "An organization is o- and 10 to 32 letters and digits."
  }
}

variable "tags" {
  description = "Tags of the endpoints."
  type        = map(string)
  default     = {}
}
