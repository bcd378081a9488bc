"""The conformance kit: plays the client against a DSLC server in any language, and says what holds."""
