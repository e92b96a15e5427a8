"""The operator's configuration: `config.toml`, what the environment and the command line say over it, and where
each value came from.

Reading a file touches neither the store nor the screen. A wrong file is refused whole: no console starts with
half of what its operator asked for.
"""

from console.config.command import CustomCommand
from console.config.context import Colour, Context
from console.config.file import CONFIG_VARIABLE, load
from console.config.problem import ConfigError
from console.config.settings import Asked, Settings, settled, with_habit
from console.config.source import DEFAULT, Layer, Source, Valued
from console.config.whole import Config

__all__ = [
    "CONFIG_VARIABLE",
    "DEFAULT",
    "Asked",
    "Colour",
    "Config",
    "ConfigError",
    "Context",
    "CustomCommand",
    "Layer",
    "Settings",
    "Source",
    "Valued",
    "load",
    "settled",
    "with_habit",
]
