# From here on the test file is left alone.
test_facts, test_names = {"file": {{ inputs.test }}, "plain": True, "format": ""}, []
formats = [] if file_facts["plain"] else [file_facts["format"]]
test_packages = []
