"""A planner with a language model behind it, and everything that keeps the model honest."""
