"""Citation resolution and support checks over text that is given."""
