#!/usr/bin/env python3
"""screenshots.py PROGRAMS [FOLDER]: makes the screenshots of docs/gallery.md, into docs/pictures unless FOLDER is given.

A daemon of its own goes through the pictures of pipelined-samples, and a browser looks at them. It needs Debian's
chromium and chromium-driver, and selenium from PyPI. With --page ADDRESS it looks at a gallery that runs already for the
daemon of --root DIR.
"""
import argparse
import base64
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path, help="the folder with pipelined, pipectl and the others")
    parser.add_argument("folder", type=pathlib.Path, nargs="?",
                        default=pathlib.Path(__file__).resolve().parent.parent / "docs" / "pictures")
    parser.add_argument("--page", help="the address of a gallery that runs already")
    parser.add_argument("--root", type=pathlib.Path, help="the folder of its daemon")
    return parser.parse_args()


class Daemon:
    """A daemon in a folder of its own, with a gallery at a port, unless there is one."""

    def __init__(self, programs, root, page, stack):
        self.programs, self.root = programs, root
        if page is None:
            self.start("pipelined", stack)
            self.wait_for("status")
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            self.start("pipelined-gallery", stack, "--listen", f"127.0.0.1:{port}")
            self.wait_for("gallery")
        self.page = page

    @property
    def address(self):
        # Each browser logs in by a code of its own.
        return self.page or self.control("gallery").strip()

    @property
    def done(self):
        return json.loads(self.control("status", "--json"))["jobs"]["done"]

    def start(self, program, stack, *words):
        process = subprocess.Popen([self.programs / program, "--root", self.root, *words], stderr=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.terminate)

    def control(self, *words):
        command = [self.programs / "pipectl", "--root", self.root, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def wait_for(self, verb):
        for _ in range(200):
            with contextlib.suppress(subprocess.CalledProcessError):
                self.control(verb)
                return
            time.sleep(0.05)
        raise SystemExit(f"`pipectl {verb}` gets no answer")


@contextlib.contextmanager
def browser(address, width, height, scale=1, dark=False):
    options = Options()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--lang=en-GB"]:
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
    try:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 500})
        driver.get(address)
        yield driver
    finally:
        driver.quit()


def until(driver, script, *words):
    """Waits until the script gives something true."""
    WebDriverWait(driver, 60).until(lambda driver: driver.execute_script(script, *words))


def still(driver):
    """Waits until each cell on the screen has its picture, and no fade is under way."""
    until(driver, """
        const cells = [...document.querySelectorAll(".cell:not([hidden])")]
            .filter(cell => cell.getBoundingClientRect().top < innerHeight);
        return cells.length > 0 && cells.every(cell => cell.querySelectorAll("img").length === 1)
            && document.getAnimations().length === 0""")


def save(driver, path):
    picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 72})
    path.write_bytes(base64.b64decode(picture["data"]))
    print(path, path.stat().st_size)


def slide(driver, panel):
    driver.execute_script("""
        const slider = document.querySelector(`${arguments[0]} .slide input`);
        slider.value = 50;
        slider.dispatchEvent(new Event("input"))""", panel)


def main():
    wishes = arguments()
    wishes.folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pipelined-screenshots.")))
        daemon = Daemon(wishes.programs.resolve(), wishes.root or folder / "root", wishes.page, stack)
        pictures = folder / "lucerne"
        subprocess.run([daemon.programs / "pipelined-samples", pictures], check=True, stdout=subprocess.DEVNULL)
        for picture in sorted(pictures.iterdir()):
            (daemon.root / "inbox" / picture.name).write_bytes(picture.read_bytes())
        daemon.control("watch", "--until-idle")
        daemon.control("wait")

        with browser(daemon.address, 1200, 760, dark=True) as driver:
            still(driver)
            driver.execute_script("""
                [...document.querySelectorAll(".cell")].find(cell => cell.textContent.includes("lights")).click()""")
            until(driver, "return document.querySelectorAll('.large .layer img').length === 2")
            slide(driver, ".large")
            save(driver, wishes.folder / "gallery-large.webp")
        with browser(daemon.address, 1200, 760) as driver:
            still(driver)
            driver.execute_script("document.getElementById('recipes').click()")
            until(driver, "return document.querySelectorAll('.finding .layer img').length === 1")
            driver.execute_script("""
                document.querySelectorAll("[role=tab]")[1].click();
                const field = document.getElementById("chain");
                field.value = "duotone | vignette | resize edge=1600";
                field.dispatchEvent(new Event("input"));
                document.querySelector(".tried .strong").click()""")
            until(driver, "return document.querySelectorAll('.finding .layer img').length === 2")
            until(driver, "return document.querySelectorAll('.sample img').length > 4")
            slide(driver, ".finding")
            save(driver, wishes.folder / "gallery-recipes.webp")
        # A batch that is half done: the queue is held when a few of its pictures have turned.
        daemon.control("concurrency", "1")
        with browser(daemon.address, 1200, 760) as driver:
            still(driver)
            daemon.control("pause", "render", "--reason", "for a picture of it")
            daemon.control("add", str(pictures), "--chain", "duotone dark=#20124d light=#ffd9a0 | vignette | save format=webp")
            still(driver)
            daemon.control("resume", "render")
            while daemon.done < 12 + 5:
                time.sleep(0.005)
            daemon.control("pause", "render", "--reason", "for a picture of it")
            still(driver)
            save(driver, wishes.folder / "gallery.webp")
        with browser(daemon.address, 390, 760, scale=2, dark=True) as driver:
            still(driver)
            save(driver, wishes.folder / "gallery-phone.webp")


main()
