"""Several processes over real NATS servers, really killed, paused and cut off."""
