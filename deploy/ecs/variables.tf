variable "name" {
  description = "Name of everything that is created."
  type        = string
  default     = "sentinel"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,20}$", var.name))
    error_message = "The name begins with a letter and has at most 21 lower-case letters, digits and hyphens."
  }
}

variable "vpc_id" {
  description = "VPC of the gateways and the database."
  type        = string
}

variable "private_subnet_ids" {
  description = "Subnets of gateways, reconciler and database, in two zones or more, with a way to AWS (endpoints or NAT)."
  type        = list(string)

  validation {
    condition     = length(var.private_subnet_ids) >= 2
    error_message = "A database with a standby needs subnets in two zones."
  }
}

variable "load_balancer_subnet_ids" {
  description = "Subnets of the load balancer."
  type        = list(string)
}

variable "client_cidrs" {
  description = "Networks whose clients may reach the gateway over HTTPS."
  type        = list(string)

  validation {
    condition     = !contains(var.client_cidrs, "0.0.0.0/0") && !contains(var.client_cidrs, "::/0")
    error_message = "The gateway is not for the whole internet: name the networks of your agents, pipelines and people."
  }
}

variable "internal" {
  description = "Whether the load balancer has private addresses only."
  type        = bool
  default     = true
}

variable "certificate_arn" {
  description = "Certificate (ACM) of the host in public_url."
  type        = string
}

variable "public_url" {
  description = "The https URL at which clients reach the gateway."
  type        = string

  validation {
    condition     = can(regex("^https://[a-z0-9.-]+$", var.public_url))
    error_message = "It is https:// and a host, without a path."
  }
}

variable "gateway_image" {
  description = "Image of the gateway, by digest."
  type        = string
}

variable "reconciler_image" {
  description = "Image of the reconciler, by digest."
  type        = string
}

variable "master_key_secret_arn" {
  description = "Secret (Secrets Manager) whose text is the master key."
  type        = string
}

variable "reconciler_key_secret_arn" {
  description = "Secret (Secrets Manager) with the JSON members key_id and key_secret of the reconciler's key; empty until it is issued: the reconciler then does not run."
  type        = string
  default     = ""
}

variable "code_repository" {
  description = "URL of the git remote with the Terraform code, cloned to /srv/infra and fetched every 20 s."
  type        = string
}

variable "settings" {
  description = "Settings by environment name, as docs/settings.md lists them: SENTINEL_STACKS = jsonencode([{ name = \"prod\", path = \"/srv/infra\" }]). No secrets."
  type        = map(string)

  validation {
    condition     = contains(keys(var.settings), "SENTINEL_STACKS")
    error_message = "SENTINEL_STACKS is missing: no stack would be guarded."
  }

  validation {
    condition     = alltrue([for name in keys(var.settings) : can(regex("^SENTINEL_[A-Z0-9_]+$", name)) && !can(regex("SECRET|MASTER_KEY|TOKEN$", name))])
    error_message = "Settings begin with SENTINEL_, and none of them is a secret: those are in Secrets Manager."
  }
}

variable "gateway_policy_arns" {
  description = "Policies of the role with which the gateway sends: what its callers may do together."
  type        = list(string)
  default     = []
}

variable "permissions_boundary_arn" {
  description = "Permissions boundary of the roles."
  type        = string
  default     = null
}

variable "gateways" {
  description = "Least and most gateways, and the load of the processor (percent) at which there is one more."
  type        = object({ least = number, most = number, cpu_percent = number })
  default     = { least = 2, most = 6, cpu_percent = 60 }

  validation {
    condition     = var.gateways.least >= 2 && var.gateways.most >= var.gateways.least
    error_message = "There are two gateways or more, so that one can be replaced."
  }
}

variable "database_class" {
  description = "Instance class of the database."
  type        = string
  default     = "db.m7g.large"
}

variable "database_backup_days" {
  description = "How long RDS keeps its backups, in days."
  type        = number
  default     = 35

  validation {
    condition     = var.database_backup_days >= 7
    error_message = "Keep a week at least: a restore must reach back before the mistake."
  }
}

variable "kms_key_arn" {
  description = "Key for the database, the checkpoint and the logs; null: AWS's own keys."
  type        = string
  default     = null
}

variable "log_days" {
  description = "How long logs are kept, in days."
  type        = number
  default     = 365
}

variable "tags" {
  description = "Tags of everything."
  type        = map(string)
  default     = {}
}
