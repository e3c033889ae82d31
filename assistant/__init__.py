"""The backend, one room per step of a chat turn. This file holds the version and nothing else."""

__version__ = "0.1.0"
