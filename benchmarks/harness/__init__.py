"""Our families and their peers side by side: corpora, systems, one measurement, tables and plots."""
