"""One file per kind of edit to HCL text; bytes outside the edit never change."""
