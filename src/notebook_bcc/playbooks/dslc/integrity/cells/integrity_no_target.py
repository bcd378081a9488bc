# Without a target the table is described, not predicted.
task, can_model, cannot_because, class_counts = "none", False, "no target", {}
