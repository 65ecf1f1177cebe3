"""Measurements that the README quotes; none of this is installed with the package."""
