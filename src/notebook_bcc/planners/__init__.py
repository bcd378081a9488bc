"""Who answers planning and generating: one interface, and a double that is fed from a script."""
