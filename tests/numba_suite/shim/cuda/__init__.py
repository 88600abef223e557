"""NVIDIA's package `cuda`, of which only what the tests need of its enumerations is here."""
