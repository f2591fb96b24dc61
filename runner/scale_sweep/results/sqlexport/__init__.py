"""A stored run as tables of an SQL database: runs, settings, trials, ticks.

`tables.py` makes the rows; `write.py` writes them through SQLAlchemy. Refuses to know a database by name, and to store
a password: it comes from the environment.
"""

from scale_sweep.results.sqlexport.tables import SqlTable, tables_of
from scale_sweep.results.sqlexport.write import PASSWORD_VARIABLE, ExportedTables, write

__all__ = ["PASSWORD_VARIABLE", "SqlTable", "ExportedTables", "tables_of", "write"]
