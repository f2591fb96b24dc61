// The index of a site: filters, and a picture of the chosen curves. It writes text as text and attributes as
// attributes, never markup. Refuses to load anything.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg", MOST = 7, W = 940, H = 380, L = 70, R = 20, T = 30, B = 46;
  const curves = JSON.parse(document.getElementById("curves").textContent);
  const boxes = [...document.querySelectorAll("input[data-curve]")];
  const form = document.getElementById("filters"), figure = document.getElementById("picture");
  const place = document.getElementById("drawing"), caption = document.getElementById("caption");
  const add = (parent, name, attributes, text) => {
    const made = parent.namespaceURI === NS || name === "svg"
      ? document.createElementNS(NS, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const select = (name, words, values) => {
    const label = add(form, "label", {}, words), chosen = add(label, "select", { name });
    for (const [value, shown] of values) add(chosen, "option", { value }, shown);
    chosen.addEventListener("change", filter);
    return chosen;
  };
  const distinct = key => [...new Set(curves.map(curve => curve[key]))].sort();
  const withAll = key => [["", "all"], ...distinct(key).map(value => [value, value])];
  const shown = value => {
    const [scale, unit] = [[1e9, " G"], [1e6, " M"], [1e3, " k"], [1, ""]].find(([s]) => value >= s) || [1, ""];
    return `${+(value / scale).toPrecision(3)}${unit}`;
  };
  const ticks = most => {
    const rough = most / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= rough * 0.999);
    const all = [];
    for (let value = 0; value <= most * 1.0001; value += step) all.push(value);
    return all;
  };
  const chosen = () => boxes.filter(box => box.checked).map(box => curves[+box.dataset.curve]);
  function draw() {
    place.replaceChildren();
    caption.replaceChildren();
    const all = chosen(), kind = all.length ? all[0].kind : "";
    const drawn = all.filter(curve => curve.kind === kind && curve.levels.length).slice(0, MOST);
    figure.hidden = !drawn.length;
    if (!drawn.length) return;
    const asSpeedup = form.elements.show.value === "speedup";
    const by = curve => asSpeedup ? curve.rates[0] : 1;
    const xMost = Math.max(...drawn.flatMap(curve => curve.levels)) * 1.03;
    const yMost = 1.06 * Math.max(...drawn.flatMap(
      curve => [...curve.rates, ...(asSpeedup ? [] : curve.highs)].map(value => (value || 0) / by(curve))));
    const x = value => L + value / xMost * (W - L - R), y = value => H - B - value / yMost * (H - T - B);
    const svg = add(place, "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", class: "plot",
      "aria-label": `The chosen curves: ${asSpeedup ? "speedup" : drawn[0].unit} over ${drawn[0].axis}` });
    for (const value of ticks(yMost)) {
      add(svg, "line", { x1: L, x2: W - R, y1: y(value), y2: y(value), class: value ? "grid" : "zero" });
      add(svg, "text", { x: L - 7, y: y(value) + 4, "text-anchor": "end", class: "t dim" }, shown(value));
    }
    for (const level of new Set([0, ...drawn.flatMap(curve => curve.levels)]))
      add(svg, "text", { x: x(level), y: H - B + 19, "text-anchor": "middle", class: "t dim" }, String(level));
    add(svg, "text", { x: W - R, y: H - B + 38, "text-anchor": "end", class: "t dim" }, drawn[0].axis);
    const upright = asSpeedup ? "speedup against the curve's first level" : drawn[0].unit;
    add(svg, "text", { x: 6, y: T - 12, class: "t dim" }, upright);
    const list = add(caption, "ul");
    drawn.forEach((curve, index) => {
      const points = curve.levels.map((level, at) => [x(level), y(curve.rates[at] / by(curve))]);
      add(svg, "polyline", { points: points.map(p => p.join()).join(" "), class: `subject s${index} curve-line` });
      points.forEach(([px, py], at) => {
        const low = curve.lows[at], high = curve.highs[at];
        if (!asSpeedup && low !== null && high !== null)
          add(svg, "line", { x1: px, x2: px, y1: y(low), y2: y(high), class: `subject s${index}` });
        const dot = add(svg, "circle", { cx: px, cy: py, r: 4.5, class: `subject s${index}` });
        add(dot, "title", {}, `${curve.title}, ${curve.database}: ${shown(curve.rates[at])} ${curve.unit} at `
          + `${curve.levels[at]}` + (low === null || high === null ? "" : ` (${shown(low)} to ${shown(high)})`));
      });
      const item = add(list, "li"), key = add(item, "svg", { viewBox: "0 0 34 12", class: "plot" });
      add(key, "line", { x1: 0, x2: 34, y1: 6, y2: 6, class: `subject s${index} curve-line` });
      add(item, "a", { href: curve.page }, `${curve.title}, ${curve.database} ${curve.version}`);
    });
    const others = all.length - drawn.length;
    if (others) add(caption, "p", {}, `Not drawn: ${others}. A picture has up to ${MOST} curves of one axis and unit.`);
  }
  function filter() {
    boxes.forEach(box => {
      const curve = curves[+box.dataset.curve];
      const fits = ["axis", "database", "version", "machine"].every(
        key => !form.elements[key].value || form.elements[key].value === curve[key]);
      box.closest("tr").hidden = !fits;
      if (!fits) box.checked = false;
    });
    draw();
  }
  select("axis", "axis", withAll("axis"));
  select("database", "database", withAll("database"));
  select("version", "version", withAll("version"));
  select("machine", "machine", withAll("machine"));
  select("show", "picture", [["rate", "rate"], ["speedup", "speedup"]]);
  form.hidden = false;
  const first = curves.find(curve => curve.levels.length > 1);
  const drawn = new Set();
  boxes.forEach(box => {
    const curve = curves[+box.dataset.curve], isNew = !drawn.has(curve.database) && drawn.size < MOST;
    box.disabled = !curve.levels.length;  // without a fitted trial there is nothing to draw
    box.checked = !!first && curve.kind === first.kind && curve.levels.length > 1 && isNew;
    if (box.checked) drawn.add(curve.database);
    box.addEventListener("change", draw);
  });
  draw();
})();
