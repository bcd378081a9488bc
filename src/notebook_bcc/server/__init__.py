"""The DSLC service: the protocol's endpoints over HTTP, in front of any planner."""
