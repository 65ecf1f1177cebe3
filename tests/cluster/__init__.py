"""Several processes over real NATS servers, killed, paused and cut off for real."""
