"""`structgen grammar stats`: sizes of a grammar, overlaps of its terminals, and the size of a mask store.

Read `statistics` first.
"""
