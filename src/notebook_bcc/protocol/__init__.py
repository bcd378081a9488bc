"""The words of the protocol: typed, frozen, almost no behaviour."""
