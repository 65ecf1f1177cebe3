"""Breaking the system on purpose: fault plans, wrappers round the ports, the matrix. Not built yet."""
