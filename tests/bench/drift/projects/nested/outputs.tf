output "search" {
  value = module.search.summary
}

output "mail" {
  value = module.mail.url
}
