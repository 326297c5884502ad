// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Each timeline: shows one of its pictures, zooms it, and says what a bar is.
"use strict";

// A row's height in pixels.
const ROW = 22;

// The nanoseconds `ns` as the rest of the page writes times.
function duration(ns) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
	const [size, name] = units.find(([size]) => ns >= size) || units[3];
	return `${Number((ns / size).toPrecision(4))} ${name}`;
}

function timeline(section) {
	const views = [...section.querySelectorAll(".view")];
	const select = section.querySelector("select");
	const said = section.querySelector(".said");
	let view, svg, whole, height, bars, at;

	// Shows `width` units from `from` on, within the picture.
	function show(from, width) {
		width = Math.min(Math.max(width, whole / 1e5), whole);
		from = Math.min(Math.max(from, 0), whole - width);
		svg.setAttribute("viewBox", `${from} 0 ${width} ${height}`);
		const start = Number(view.dataset.from);
		const unit = Number(view.dataset.length) / whole;
		section.querySelector(".empty").hidden = bars.some((bar) =>
			bar.x.baseVal.value <= from + width &&
			bar.x.baseVal.value + bar.width.baseVal.value >= from);
		const ticks = view.querySelector(".ticks");
		ticks.replaceChildren(...[0, 0.5, 1].map((part) => {
			const span = document.createElement("span");
			span.textContent = duration(start + (from + part * width) * unit);
			return span;
		}));
	}

	function mark(bar) {
		section.querySelector("rect.on")?.classList.remove("on");
		at = bars.indexOf(bar);
		bar.classList.add("on");
		said.textContent = bar.querySelector("title").textContent;
	}

	// A bar may be thinner than a finger: the nearest one in the row that was clicked.
	function nearest(event) {
		const box = svg.getBoundingClientRect();
		const { x, width } = svg.viewBox.baseVal;
		const where = x + (event.clientX - box.left) / box.width * width;
		const row = Math.floor((event.clientY - box.top) / ROW);
		let best, least = width / 20;
		for (const bar of bars) {
			const from = bar.x.baseVal.value, to = from + bar.width.baseVal.value;
			const far = Math.max(from - where, where - to, 0);
			if (far < least && Math.floor(bar.y.baseVal.value / ROW) === row)
				[best, least] = [bar, far];
		}
		return best;
	}

	// The next or previous bar in time, moved into what is shown.
	function step(by) {
		if (!bars.length)
			return;
		mark(bars[(at + by + bars.length) % bars.length]);
		const { x, width } = svg.viewBox.baseVal;
		const left = bars[at].x.baseVal.value;
		if (left < x || left > x + width)
			show(left - width / 2, width);
	}

	const deeds = {
		"+": (x, width) => show(x + width / 4, width / 2),
		"-": (x, width) => show(x - width / 2, width * 2),
		ArrowLeft: (x, width) => show(x - width / 4, width),
		ArrowRight: (x, width) => show(x + width / 4, width),
		Home: () => show(0, whole),
		",": () => step(at < 0 ? 0 : -1),
		".": () => step(1),
	};

	function act(name) {
		const { x, width } = svg.viewBox.baseVal;
		deeds[name === "=" ? "+" : name]?.(x, width);
	}

	function choose() {
		section.querySelector("rect.on")?.classList.remove("on");
		said.textContent = "";
		view = views[select.selectedIndex];
		for (const other of views)
			other.hidden = other !== view;
		svg = view.querySelector("svg");
		({ width: whole, height } = svg.whole);
		bars = [...svg.querySelectorAll("rect")];
		bars.sort((a, b) => a.x.baseVal.value - b.x.baseVal.value);
		at = -1;
		show(0, whole);
	}

	for (const each of views) {
		const { width, height } = each.querySelector("svg").viewBox.baseVal;
		each.querySelector("svg").whole = { width, height };
		const title = each.previousElementSibling;
		select.append(new Option(title.textContent));
		title.remove();
		each.addEventListener("click", (event) => {
			const bar = event.target.closest("rect") || nearest(event);
			if (bar)
				mark(bar);
		});
		each.addEventListener("keydown", (event) => {
			const name = event.key === "=" ? "+" : event.key;
			if (event.ctrlKey || event.altKey || event.metaKey || !deeds[name])
				return;
			event.preventDefault();
			act(name);
		});
	}
	select.addEventListener("change", choose);
	for (const button of section.querySelectorAll("button"))
		button.addEventListener("click", () => act(button.dataset.do));
	section.querySelector(".buttons").hidden = false;
	choose();
}

document.querySelectorAll(".timeline").forEach(timeline);
