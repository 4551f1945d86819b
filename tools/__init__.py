"""Commands of the maintainers: `make release-check` and `make check-min`."""
