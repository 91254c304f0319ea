"""Sources and parsers: from bytes to documents."""
