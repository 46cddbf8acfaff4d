"""Reports of a run for other programs: cards in notebooks, lines of a log, spans of traces."""
