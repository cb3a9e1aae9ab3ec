output "orders_visibility" {
  value = module.orders.visibility
}

output "mail_url" {
  value = module.mail.queue_url
}
