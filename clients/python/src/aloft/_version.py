"""The version of this package. The build and the user agent read it."""

__version__ = "0.1.0"
