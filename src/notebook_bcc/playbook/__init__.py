"""A planner that works by rules over the observation: a folder of YAML files and templates, and no model."""
