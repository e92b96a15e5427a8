"""The console's only door to the engine: its records become rows of the console's models, its errors
`GatewayError`.

The engine - and with it SQLAlchemy and a driver - is imported by the first call, in that call's thread, so
that the first frame is drawn before (ruling 57 says which connections a console may have).
"""

from console.gateway.reading import EngineGateway
from console.gateway.store import (
    APPLICATION_NAME,
    CONNECTIONS,
    STATEMENT_TIMEOUT,
    migrate,
)

__all__ = ["APPLICATION_NAME", "CONNECTIONS", "STATEMENT_TIMEOUT", "EngineGateway", "migrate"]
