// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Each flame graph: zooms into a box, goes from box to box, and searches.
"use strict";

function flame(section) {
	const frames = section.querySelector(".frames");
	const boxes = [...frames.children];
	const search = section.querySelector("input");
	const found = section.querySelector("output");
	const said = section.querySelector(".said");
	// Boxes are there in the order of a walk through the tree: what a box calls follows it.
	const levels = boxes.map((box) => Number(box.ariaLevel));
	const lefts = boxes.map((box) => parseFloat(box.style.left));
	const widths = boxes.map((box) => parseFloat(box.style.width));
	const parents = [];
	for (let at = 0; at < boxes.length; at++) {
		let above = at - 1;
		while (above >= 0 && levels[above] >= levels[at])
			above = parents[above];
		parents.push(above);
	}
	let zoomed = 0, current = 0;

	// The first box behind all that is called from `at`.
	function end(at) {
		let behind = at + 1;
		while (behind < boxes.length && levels[behind] > levels[at])
			behind++;
		return behind;
	}

	function zoom(to) {
		zoomed = to;
		const behind = end(to);
		const callers = new Set();
		for (let at = parents[to]; at >= 0; at = parents[at])
			callers.add(at);
		boxes.forEach((box, at) => {
			const caller = callers.has(at), inside = at >= to && at < behind;
			box.hidden = !caller && !inside;
			box.classList.toggle("caller", caller);
			const part = 100 / widths[to];
			box.style.left = `${caller ? 0 : (lefts[at] - lefts[to]) * part}%`;
			box.style.width = `${caller ? 100 : widths[at] * part}%`;
		});
		boxes[to].scrollIntoView({ block: "nearest" });
	}

	function describe(at) {
		said.textContent = `${boxes[at].textContent}: ${boxes[at].title}`;
	}

	// Moves the focus; the one box that Tab comes to is the current one.
	function go(to) {
		if (!(to >= 0 && to < boxes.length) || boxes[to].hidden)
			return;
		boxes[current].tabIndex = -1;
		boxes[to].tabIndex = 0;
		current = to;
		boxes[to].focus();
	}

	// The nearest box in the same row.
	function beside(by) {
		let at = current + by;
		while (at >= 0 && at < boxes.length && (levels[at] !== levels[current] || boxes[at].hidden))
			at += by;
		go(at);
	}

	function whole() {
		zoom(0);
		describe(current);
	}

	const deeds = {
		Enter: () => zoom(current),
		" ": () => zoom(current),
		Escape: whole,
		Home: () => go(0),
		ArrowUp: () => go(parents[current]),
		ArrowDown: () => levels[current + 1] > levels[current] && go(current + 1),
		ArrowLeft: () => beside(-1),
		ArrowRight: () => beside(1),
	};

	// A box below another that is found has no time of its own: it is in the other's.
	function look() {
		const word = search.value.trim().toLowerCase();
		let count = 0, share = 0, counted = 0;
		boxes.forEach((box, at) => {
			const hit = word !== "" && box.textContent.toLowerCase().includes(word);
			box.classList.toggle("found", hit);
			count += hit;
			if (hit && at >= counted) {
				share += widths[at];
				counted = end(at);
			}
		});
		frames.classList.toggle("searched", word !== "");
		const noun = count === 1 ? "box" : "boxes";
		found.textContent = word && `${count} ${noun}, ${share.toFixed(1)} % of the time`;
	}

	frames.addEventListener("focusin", (event) => describe(boxes.indexOf(event.target)));
	frames.addEventListener("click", (event) => {
		const at = boxes.indexOf(event.target);
		if (at < 0)
			return;
		go(at);
		zoom(at);
	});
	frames.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey || !deeds[event.key])
			return;
		event.preventDefault();
		deeds[event.key]();
	});
	search.addEventListener("input", look);
	section.querySelector("button").addEventListener("click", whole);
	section.querySelector(".buttons").hidden = false;
}

document.querySelectorAll(".flame").forEach(flame);
