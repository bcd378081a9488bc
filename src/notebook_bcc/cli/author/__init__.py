"""Commands for people who write planners."""
