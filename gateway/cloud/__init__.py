"""The AWS client: endpoints, serialization, signing, sending once, reading replies."""
