"""Tests of the page, a package so that its browser ends with them: Playwright's loop lets no other run beside it."""
