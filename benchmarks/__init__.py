"""Measurements that README.md and docs/measurements.md quote; none of this is installed with the package."""
