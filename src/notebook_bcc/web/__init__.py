"""The page: runs to look at and to steer from a browser. Reads journals; carries nothing out itself."""
