"""What other programs show of a run: cards in notebooks, lines of a log, spans."""
