# wins over terraform.tfvars
consumers = 6
size = "huge"
