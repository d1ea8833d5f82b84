"""Template files: format, names and writes, hot reload, filling, the circuit breaker."""
