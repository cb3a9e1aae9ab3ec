variable "account" {
  type    = string
  default = "123456789012"
}

variable "readers" {
  type    = list(string)
  default = ["analyst", "auditor"]
}

variable "bucket_actions" {
  type = list(string)
}

variable "teams" {
  description = "What each team may do, by team."
  type        = map(list(string))
}
