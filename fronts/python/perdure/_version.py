"""The version of this package, which is that of the C library that it is made for."""

__version__ = "0.1.0"
