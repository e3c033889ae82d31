"""The panel in a real browser, in ComfyUI's stock front end, on the preview.

A package, so that its fixtures of package scope end with it: while a browser of Playwright runs, no
test of another folder could run its own event loop.
"""
