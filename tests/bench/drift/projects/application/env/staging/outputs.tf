output "web_instances" {
  value = module.web.desired
}
