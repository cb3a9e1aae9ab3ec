variable "env" {
  default = "live"
}
