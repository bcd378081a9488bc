"""How records change a run."""
