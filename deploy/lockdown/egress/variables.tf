variable "name" {
  description = "Name of everything that is created."
  type        = string
  default     = "sentinel-agents"
}

variable "vpc_id" {
  description = "VPC of the agents. Not the one of the gateways: names of AWS lead nowhere in it."
  type        = string
}

variable "gateway_security_group_id" {
  description = "Security group of the gateway's load balancer, in this VPC or a peered one."
  type        = string
}

variable "gateway_port" {
  description = "Port of the gateway."
  type        = number
  default     = 443
}

variable "other_destinations" {
  description = "Other networks that agents need over HTTPS, by what they are for."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for network in values(var.other_destinations) : can(cidrhost(network, 0)) && tonumber(split("/", network)[1]) >= 8])
    error_message = "Each is a network of /8 or smaller: a way to the whole internet is a way to AWS."
  }
}

variable "tags" {
  description = "Tags of everything."
  type        = map(string)
  default     = {}
}
