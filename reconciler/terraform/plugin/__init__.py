"""Reads live resources from a provider process directly, without a plan.

Source: Terraform's plug-in protocol, version 5 ("Terraform Plugin Protocol", tfplugin5), over gRPC.
"""
