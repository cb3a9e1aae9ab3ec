"""Policy engines (embedded Wasm, OPA server), and building and checking of policy bundles."""
