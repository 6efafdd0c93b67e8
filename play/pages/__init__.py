"""The page: plain HTML, CSS and JavaScript modules, read through importlib.resources."""
