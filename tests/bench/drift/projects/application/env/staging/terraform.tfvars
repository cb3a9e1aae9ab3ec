web = {
  min     = 1
  max     = 3
  desired = 2
}
