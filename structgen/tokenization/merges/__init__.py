"""The merges of a byte-pair encoding: which tokens may be neighbours."""
