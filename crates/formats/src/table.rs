//! Numeric tables: CSV and TSV.
