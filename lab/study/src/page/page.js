"use strict";
(() => {
  const root = document.documentElement;
  const all = (query, within = document) => [...within.querySelectorAll(query)];

  // Light or dark: the system's preference, until the button overrides it.
  const button = document.getElementById("scheme");
  const isDark = () =>
    (root.dataset.scheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const named = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  if (button) {
    button.addEventListener("click", () => { root.dataset.scheme = isDark() ? "light" : "dark"; named(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);
    named();
  }

  // Warm or cold files.
  const states = all('input[name="state"]');
  const chooseState = () => {
    const chosen = states.find((input) => input.checked);
    if (chosen) root.dataset.state = chosen.value;
    away();
  };
  states.forEach((input) => input.addEventListener("change", chooseState));

  // One folder, or all.
  const folders = document.querySelector('select[data-switch="folder"]');
  const chooseFolder = () => {
    for (const chart of all(".chart")) {
      const figures = all("figure[data-folder]", chart);
      const chosen = figures.filter((figure) => figure.dataset.folder === folders.value);
      // A chart that was measured in other folders only is still shown.
      const shown = folders.value === "all" || !chosen.length ? figures : chosen;
      figures.forEach((figure) => figure.classList.toggle("away", !shown.includes(figure)));
    }
    away();
  };
  if (folders) folders.addEventListener("change", chooseFolder);

  // The name of a series in the legend hides and shows it.
  for (const name of all(".legend button")) {
    name.addEventListener("click", () => {
      const isShown = name.getAttribute("aria-pressed") === "true";
      name.setAttribute("aria-pressed", String(!isShown));
      name.closest("article").classList.toggle("off" + name.dataset.slot, isShown);
      away();
    });
  }

  // The text of a point: by pointer, finger, or arrow keys.
  const tip = document.getElementById("tip");
  let current = null;
  const away = () => {
    if (current) current.classList.remove("at");
    current = null;
    tip.hidden = true;
  };
  const say = (marker, text) => {
    if (current !== marker) {
      away();
      current = marker;
      marker.classList.add("at");
      tip.textContent = text(marker);
      tip.hidden = false;
    }
    const point = marker.getBoundingClientRect();
    const left = point.left + point.width / 2 - tip.offsetWidth / 2;
    const above = point.top - tip.offsetHeight - 6;
    tip.style.left = Math.max(6, Math.min(left, root.clientWidth - tip.offsetWidth - 6)) + "px";
    tip.style.top = (above > 6 ? above : point.bottom + 6) + "px";
  };
  // The text of a point comes from its row of the table: rows and points have the same order.
  const says = (svg, row) => {
    const series = row.parentNode.querySelector("th").textContent;
    const [place, middle, low, high, runs] = all("td", row).map((cell) => cell.textContent);
    const { unit, place: name } = svg.dataset;
    const where = name ? place + " " + name : place;
    const range = runs === "1" ? "" : " [" + low + ", " + high + "]";
    const count = runs ? ", " + runs + (runs === "1" ? " run" : " runs") : "";
    return series + "\n" + where + ": " + middle + (unit === "×" ? "" : " ") + unit + range + count;
  };
  const visible = (points) => points.filter((point) => getComputedStyle(point).display !== "none");
  for (const svg of all(".plot svg")) {
    const points = all(".m", svg);
    // Looked up on first use: most charts are never used.
    const text = (point) => {
      const rows = all("tbody tr", svg.closest("figure").querySelector("table"));
      return says(svg, rows[points.indexOf(point)]);
    };
    const nearest = (event) => {
      const far = (point) => {
        const box = point.getBoundingClientRect();
        return Math.hypot(box.left + box.width / 2 - event.clientX, box.top + box.height / 2 - event.clientY);
      };
      const found = visible(points).reduce((best, point) => (!best || far(point) < far(best) ? point : best), null);
      return found && far(found) < 36 ? found : null;
    };
    const point = (event) => {
      const found = nearest(event);
      if (found) say(found, text); else away();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") away(); });
    svg.addEventListener("blur", away);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") away();
      const shown = visible(points);
      if (!step || !shown.length) return;
      event.preventDefault();
      const at = shown.indexOf(current);
      const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : (at + step + shown.length) % shown.length;
      say(shown[next], text);
    });
  }
  addEventListener("scroll", away, { passive: true });

  // In print nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));

  chooseState();
  if (folders) chooseFolder();
})();
