"""Results that a backend computed elsewhere, as a file of safetensors (docs/results.md)."""
