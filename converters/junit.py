"""Surveys as JUnit XML, which build servers show test by test."""

from __future__ import annotations

from xml.etree import ElementTree

from ..ir.errors import one_line
from .roundtrip import RoundTrip
from .survey import Survey, Unreadable


def junit_xml(found: Survey) -> bytes:
    """A survey as a JUnit document: a test case for each round trip, and one for each file that cannot be read."""
    counts = {
        "tests": str(len(found.trips) + len(found.unreadable)),
        "failures": str(len(found.faulty)),
        "errors": str(len(found.unreadable)),
        "time": _seconds(sum(trip.seconds for trip in found.trips)),
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "rigconv roundtrip", **counts})
    for trip in found.trips:
        _add_trip(suite, trip)
    for item in found.unreadable:
        _add_unreadable(suite, item)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_trip(suite: ElementTree.Element, trip: RoundTrip) -> None:
    case = _add_case(suite, trip.file, trip.title, trip.seconds)
    if not trip.ok:
        lines = [one_line(fault) for fault in trip.faults]
        failure = ElementTree.SubElement(case, "failure", {"type": trip.outcome.value, "message": lines[0]})
        failure.text = "\n".join(lines)


def _add_unreadable(suite: ElementTree.Element, item: Unreadable) -> None:
    case = _add_case(suite, item.file, "read", 0.0)
    ElementTree.SubElement(case, "error", {"message": one_line(item.error)})


def _add_case(suite: ElementTree.Element, file: str, title: str, seconds: float) -> ElementTree.Element:
    """A test case; control characters, which XML cannot hold, are escaped."""
    names = {"classname": one_line(file), "name": title, "time": _seconds(seconds)}
    return ElementTree.SubElement(suite, "testcase", names)


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}"
