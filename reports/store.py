"""The append-only store of records: SQLite in one file, or PostgreSQL by URL."""

import json
from pathlib import Path

from sqlalchemy import String, Text, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from .records import validate

DEFAULT_STORE = "reports/out/weir.db"


class Base(DeclarativeBase):
    """Holds the table definitions."""


class Run(Base):
    """One record. The columns besides `body` are copies of it, there to be searched."""

    __tablename__ = "run"
    run_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32), index=True)
    started: Mapped[str] = mapped_column(String(40), index=True)
    body: Mapped[str] = mapped_column(Text)


class Store:
    """A store at a URL (`postgresql+psycopg://...`, `sqlite:///...`) or a path; None is `reports/out/weir.db`."""

    def __init__(self, where: str | None = None):
        self.url = store_url(where or DEFAULT_STORE)
        self._engine = create_engine(self.url)
        Base.metadata.create_all(self._engine)

    def add(self, record: dict) -> bool:
        """Appends a valid record. Returns False if it is there already; raises RecordError if it is not valid."""
        validate(record)
        with Session(self._engine) as session, session.begin():
            if session.get(Run, record["run_id"]) is not None:
                return False
            session.add(Run(run_id=record["run_id"], kind=record["schema"], started=record["started"],
                            body=json.dumps(record, ensure_ascii=False, allow_nan=False)))
        return True

    def records(self, kind: str | None = None) -> list[dict]:
        """Returns the records (of one kind, or all), oldest first; ties are broken by id, so order is stable."""
        query = select(Run.body).order_by(Run.started, Run.run_id)
        if kind is not None:
            query = query.where(Run.kind == kind)
        with Session(self._engine) as session:
            return [json.loads(body) for body in session.scalars(query)]

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()


def store_url(where: str) -> str:
    """Returns a database URL; a plain path becomes a SQLite file whose folder is made."""
    if "://" in where:
        return where
    path = Path(where)
    path.parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{path}"
