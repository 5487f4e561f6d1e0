"""The reference memory service: full-text search over what was added, behind the memory contract."""
