"""This package has the version of the C library that it is made for."""

__version__ = "0.1.0"
