"""Measurements that README.md and docs/measurements.md quote; the package does not install them."""
