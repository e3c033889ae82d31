"""What a reader of the log sees, frame by frame: whether text that was on the screen has moved."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from plugin.tests.e2e.panel import Panel

STILL = 2  # pixels that text may move without being called moved

# Notes after each painted frame where the texts on the screen stand (a message that is sent in
# requestAnimationFrame comes after the frame is painted), and compares with the frame before:
# `scrolled` says how far the reader has scrolled in between, right after that frame was noted. What
# is skipped by `content-visibility` is not painted, and asking where it stands would lay it out. A
# height that has changed since the frame, such as that of a picture which has just come, is not
# painted yet: the next frame is compared instead.
RECORD = """still => {
    const log = document.querySelector('.ca-panel [role=log]')
    const channel = new MessageChannel()
    const record = window.record = {
        jumps: [], frames: 0, compared: 0, scrolled: 0, wanted: 0, running: true,
    }
    const column = log.querySelector('.ca-column__step:empty')
    const heightOf = element => element.getBoundingClientRect().height
    let painted = heightOf(column)
    const sizes = new ResizeObserver(() => { painted = heightOf(column) })
    sizes.observe(column)
    let seen = new Map()
    let heights = new Map()

    const isShown = element => element.checkVisibility({contentVisibilityAuto: true})
    const onScreen = (element, {top, bottom}) => {
        const box = element.getBoundingClientRect()
        return box.bottom > top && box.top < bottom
    }
    const away = (top, height) => {
        const frame = log.getBoundingClientRect()
        return top + height <= frame.top + 1 || top >= frame.bottom - 1
    }
    const topOf = node => {
        const range = document.createRange()
        range.selectNodeContents(node)
        return range.getBoundingClientRect()
    }
    const texts = () => {
        const frame = log.getBoundingClientRect()
        const found = new Map()
        const visit = element => {
            if (!onScreen(element, frame) || !isShown(element)) return
            for (const child of element.childNodes) {
                if (child.nodeType === Node.ELEMENT_NODE) visit(child)
                else if (child.nodeType === Node.TEXT_NODE && child.data.trim()) {
                    const {top, bottom} = topOf(child)
                    if (bottom <= frame.top + 1 || top >= frame.bottom - 1) continue
                    found.set(child, top)
                    heights.set(child, bottom - top)
                }
            }
        }
        for (const article of log.querySelectorAll('article')) visit(article)
        return found
    }
    const compare = () => {
        const {scrolled} = record
        record.scrolled = 0
        const known = heights
        heights = new Map()
        const now = texts()
        let worst = null
        for (const [node, before] of seen) {
            const shown = node.isConnected && isShown(node.parentElement)
            const expected = before - scrolled
            const place = shown ? topOf(node) : null
            const moved = place ? place.top - expected : NaN
            record.compared += 1
            if (Math.abs(moved) <= still) continue
            // The reader scrolled it away: nobody sees where it is, or that it is gone.
            const height = known.get(node)
            if (away(expected, height) && (!place || away(place.top, height))) continue
            if (!worst || Math.abs(moved) > Math.abs(worst.moved)) {
                const text = node.data.slice(0, 40)
                worst = {moved, text, before, scrolled, frame: record.frames, top: log.scrollTop}
            }
        }
        if (worst) record.jumps.push(worst)
        seen = now
    }
    const tick = () => {
        if (record.running) requestAnimationFrame(() => channel.port1.postMessage(null))
    }
    channel.port2.onmessage = () => {
        record.frames += 1
        if (heightOf(column) === painted) compare()
        if (record.wanted) {
            const before = log.scrollTop
            log.scrollTop = before + record.wanted
            record.wanted = 0
            record.scrolled += log.scrollTop - before
        }
        tick()
    }
    seen = texts()
    tick()
}"""
# The reader scrolls by some pixels, and reads for some frames.
SCROLL = """async ([by, frames]) => {
    const {record} = window
    record.wanted += by
    const end = record.frames + frames + 1
    while (record.frames < end) await new Promise(requestAnimationFrame)
    return document.querySelector('.ca-panel [role=log]').scrollTop
}"""
RESULT = """() => {
    window.record.running = false
    const {jumps, compared} = window.record
    return {jumps, compared}
}"""


@dataclass
class Reader:
    """Scrolls the log of the panel. `jumps` are the frames in which text on the screen moved though
    nobody scrolled, or by another distance than the reader scrolled; `compared` counts the texts
    that were looked at again. Both are filled in at the end of `reading`."""

    panel: Panel
    jumps: list[dict[str, Any]] = field(default_factory=list)
    compared: int = 0

    def scroll(self, by: float, frames: int = 2) -> float:
        """Scroll by pixels, read for painted frames; returns the log's `scrollTop` then."""
        top: float = self.panel.evaluate(SCROLL, [by, frames])
        return top

    def read(self, frames: int) -> float:
        """Look at the same place for some painted frames."""
        return self.scroll(0, frames)


@contextmanager
def reading(panel: Panel) -> Iterator[Reader]:
    panel.scroll_end()
    panel.evaluate(RECORD, STILL)
    reader = Reader(panel)
    yield reader
    found = panel.evaluate(RESULT)
    reader.jumps, reader.compared = found["jumps"], found["compared"]


@contextmanager
def slowed(panel: Panel, rate: int) -> Iterator[None]:
    """A processor that is slower by this factor; 1: as it is."""
    session = panel.page.context.new_cdp_session(panel.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
    try:
        yield
    finally:
        session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        session.detach()
