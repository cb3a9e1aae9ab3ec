"""One file per kind of edit of HCL text; bytes outside the edit never change."""
