"""Generated tables with known truth: does the playbook find the traps, and is it silent where there is none?"""
