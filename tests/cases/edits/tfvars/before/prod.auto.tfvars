# wins over terraform.tfvars
consumers = 4
size = "large"
