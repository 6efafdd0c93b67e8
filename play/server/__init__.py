"""The web server: look-ups over HTTP, games between browsers, and the page that uses both."""
