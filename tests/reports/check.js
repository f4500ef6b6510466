// Runs inside a report's page, and puts what is wrong with it into the page's title, one line each.
"use strict";
(() => {
  const wrong = [];
  const near = 0.75; // pixels by which boxes are rounded
  const words = (e) => `"${e.textContent.trim().slice(0, 30)}"`;
  const boxOf = (e) => e.getBoundingClientRect();
  const inside = (a, b) =>
    a.left >= b.left - near && a.right <= b.right + near && a.top >= b.top - near && a.bottom <= b.bottom + near;
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > near &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2; // lines of a font are taller than its letters

  // Luminance and contrast as the Web Content Accessibility Guidelines have them.
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).slice(0, 3).map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };

  const unit = /times (faster|leaner|better)|^(ns|µs|ms|s|KiB|MiB|GiB|count|instructions)\b|^(calls|run)$|off and on/;
  const charts = [...document.querySelectorAll("svg.chart")];
  if (charts.length < 5) wrong.push(`only ${charts.length} charts`);
  for (const chart of charts) {
    const name = chart.getAttribute("aria-label") || "a chart without a label";
    const say = (what) => wrong.push(`${name}: ${what}`);
    const room = boxOf(chart);
    const texts = [...chart.querySelectorAll("text")].filter((t) => t.textContent.trim() !== "");
    const boxes = texts.map(boxOf);
    texts.forEach((text, i) => {
      if (!inside(boxes[i], room)) say(`${words(text)} is cut off`);
      if (boxes[i].height < 8) say(`${words(text)} is too small to read`);
      const ratio = contrast(getComputedStyle(text).fill, behind(chart));
      if (ratio < 4.5) say(`${words(text)} has a contrast of only ${ratio.toFixed(2)}`);
      for (let j = 0; j < i; j++) {
        if (overlap(boxes[i], boxes[j])) say(`${words(text)} lies on ${words(texts[j])}`);
      }
    });
    for (const shape of chart.querySelectorAll("circle, line, polyline, polygon, rect, path")) {
      if (!inside(boxOf(shape), room)) say(`a ${shape.tagName} is outside`);
      const { fill, stroke } = getComputedStyle(shape);
      const colour = fill !== "none" ? fill : stroke;
      if (shape.tagName === "circle" && contrast(colour, behind(chart)) < 2.5) say(`a dot can hardly be seen: ${colour}`);
    }
    if (!texts.some((text) => unit.test(text.textContent.trim()))) say("no axis says what it counts");
    if (room.left < -near || room.right > innerWidth + near) say("is wider than the page");
  }

  if (document.documentElement.scrollWidth > innerWidth) {
    wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide, the window ${innerWidth}`);
  }
  for (const e of document.querySelectorAll("h1, h2, h3, p, figcaption, li, a")) {
    const box = boxOf(e);
    if (box.right > innerWidth + near || box.left < -near) wrong.push(`${words(e)} leaves the page`);
    const ratio = contrast(getComputedStyle(e).color, behind(e));
    if (ratio < 4.5) wrong.push(`${words(e)} has a contrast of only ${ratio.toFixed(2)}`);
  }
  for (const name of document.querySelectorAll("tbody th")) {
    if (boxOf(name).width > innerWidth * 0.55) wrong.push(`${words(name)} leaves no room for what it names`);
  }
  for (const cell of document.querySelectorAll("td, th")) {
    if (cell.scrollWidth > cell.clientWidth + 1) wrong.push(`the cell ${words(cell)} is cut off`);
  }
  parent.document.title = [`checked ${charts.length} charts`, ...wrong].join("\n");
})();
