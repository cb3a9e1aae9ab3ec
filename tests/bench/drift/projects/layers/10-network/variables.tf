variable "environment" {
  description = "Where this runs"
  type        = string
}

variable "cidr" {
  description = "Addresses of the network"
  type        = string
}

variable "zones" {
  description = "Letters of the availability zones"
  type        = list(string)
}

variable "tiers" {
  description = "Tiers of subnets: the first of their numbers, and whether what starts there gets a public address"
  type = map(object({
    first     = number
    public_ip = optional(bool, false)
    tags      = optional(map(string), {})
  }))
}

variable "edge" {
  description = "Who reaches the edge"
  type        = list(map(string))
}

variable "offices" {
  description = "Networks of the offices"
  type = set(object({
    cidr = string
    name = string
  }))
}

variable "inside" {
  description = "Who reaches the services inside, by name"
  type = map(object({
    port = number
    cidr = string
    why  = optional(string)
  }))
}

variable "flow_log_days" {
  description = "How long flow logs are kept; the standard of the environment if it is not given"
  type        = number
  default     = null
}
