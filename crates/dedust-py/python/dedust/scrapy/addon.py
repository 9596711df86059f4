"""One line of settings that puts all the others in place."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

# Below the middleware that follows redirects and above the one that unpacks bodies: it sees redirects.
REDIRECTS_ORDER = 610
# Below the one that unpacks bodies and above those that replace responses: it sees pages.
PAGES_ORDER = 585


class Addon:
    """Reads the settings DEDUST_RULES, DEDUST_MODE and DEDUST_OBSERVATIONS."""

    def update_settings(self, settings: BaseSettings) -> None:
        rules, observations = settings.get("DEDUST_RULES"), settings.get("DEDUST_OBSERVATIONS")
        if not rules and not observations:
            raise NotConfigured("set DEDUST_RULES to a rule file, DEDUST_OBSERVATIONS to a file to be written, or both")
        if rules:
            replace(settings, "REQUEST_FINGERPRINTER_CLASS", "dedust.scrapy.RequestFingerprinter")
            replace(settings, "DUPEFILTER_CLASS", "dedust.scrapy.DupeFilter")
        if observations:
            middlewares = settings.getdict("DOWNLOADER_MIDDLEWARES")
            middlewares.setdefault("dedust.scrapy.observations.RedirectObserver", REDIRECTS_ORDER)
            middlewares.setdefault("dedust.scrapy.observations.PageObserver", PAGES_ORDER)
            overwrite(settings, "DOWNLOADER_MIDDLEWARES", middlewares)


def replace(settings: BaseSettings, name: str, ours: str) -> None:
    """Puts a class of ours in place of the configured one, which is remembered as its fallback."""
    current = settings.get(name)
    if current == ours:
        return
    fallback = f"DEDUST_FALLBACK_{name}"
    if not settings.get(fallback):
        settings.set(fallback, current, "addon")
    overwrite(settings, name, ours)


def overwrite(settings: BaseSettings, name: str, value: Any) -> None:
    """Sets a value whoever set the one before."""
    settings.set(name, value, max(settings.getpriority(name) or 0, 15))
