"""The commands of `sentinel`, one module per group."""
