"""A stored run as tables of an SQL database: runs, settings, trials, ticks."""

from scale_sweep.results.sqlexport.tables import SqlTable, tables_of
from scale_sweep.results.sqlexport.write import PASSWORD_VARIABLE, ExportedTables, write

__all__ = ["PASSWORD_VARIABLE", "SqlTable", "ExportedTables", "tables_of", "write"]
