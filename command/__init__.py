"""The `xcuda` program: `xcuda doctor`, `xcuda install-kernel`, `xcuda --version`."""
