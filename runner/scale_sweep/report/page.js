// A page: hovering shows the figures of a point, a click selects its trial, pictures are saved as files. Without it the
// page has all of its figures. It writes text as text, never markup. Refuses to load anything.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg", root = document.documentElement;
  const make = (parent, name, attributes, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  root.classList.add("live");

  // The figures of a point are its title, which browsers show late, and not at all on a phone.
  const tip = make(document.body, "div", { class: "tip", role: "status" });
  tip.hidden = true;
  for (const title of document.querySelectorAll("svg.plot .m > title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const pointOf = event => event.target.closest && event.target.closest("svg.plot [data-tip]");
  const show = event => {
    const point = pointOf(event);
    tip.hidden = !point;
    if (!point) return;
    tip.textContent = point.dataset.tip;
    const at = point.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const right = Math.min(at.right + 8, root.clientWidth - size.width - 8);
    tip.style.left = `${Math.max(right, 8)}px`;
    tip.style.top = `${at.top - size.height - 8 > 0 ? at.top - size.height - 8 : at.bottom + 8}px`;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("pointerdown", show);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // A trial has points, panels, and a row, which has its name as id.
  const partsOf = name => [...document.querySelectorAll("[data-trial]")].filter(part => part.dataset.trial === name);
  const select = (name, row) => {
    const isChosen = row.classList.contains("chosen");
    for (const chosen of document.querySelectorAll(".chosen")) chosen.classList.remove("chosen");
    if (isChosen) return false;
    const reasons = row.classList.contains("has-why") ? [row.nextElementSibling] : [];
    for (const part of [row, ...reasons, ...partsOf(name)]) part.classList.add("chosen");
    return true;
  };
  document.addEventListener("click", event => {
    const point = event.target.closest("svg.plot [data-trial]");
    const row = point ? document.getElementById(point.dataset.trial) : event.target.closest("tr[id^=trial-]");
    if (!row || String(getSelection())) return;
    if (!select(row.id, row) || !point) return;
    row.setAttribute("tabindex", "-1");
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  });

  // Files of pictures: an SVG with the style of the page, or its drawing with twice the pixels.
  const fileOf = (name, content) => {
    const link = make(document.body, "a", { download: name, href: URL.createObjectURL(content) });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const drawingOf = figure => [...figure.querySelectorAll("svg.plot")].find(svg => svg.getClientRects().length);
  const textOf = svg => {
    const copy = svg.cloneNode(true), style = document.createElementNS(NS, "style");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    const paper = document.createElementNS(NS, "rect");
    for (const part of copy.querySelectorAll("[data-tip]")) {
      const title = document.createElementNS(NS, "title");
      title.textContent = part.dataset.tip;
      part.append(title);
      delete part.dataset.tip;
    }
    paper.setAttribute("width", width);
    paper.setAttribute("height", height);
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    style.textContent = document.querySelector("head style").textContent;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.prepend(style, paper);
    return [new XMLSerializer().serializeToString(copy), +width, +height];
  };
  const savePng = (name, svg) => {
    const [text, width, height] = textOf(svg), picture = new Image();
    picture.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * width;
      canvas.height = 2 * height;
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(content => fileOf(name, content), "image/png");
    };
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };
  for (const figure of document.querySelectorAll("figure[data-name]")) {
    const place = figure.querySelector(".save"), name = figure.dataset.name;
    const button = (kind, save) => {
      const made = make(place, "button", { type: "button", "aria-label": `Save ${name} as ${kind}` }, kind);
      made.addEventListener("click", () => save(drawingOf(figure)));
    };
    button("SVG", svg => fileOf(`${name}.svg`, new Blob([textOf(svg)[0]], { type: "image/svg+xml" })));
    button("PNG", svg => savePng(`${name}.png`, svg));
  }

  // On paper, what is folded is open. The style does the same where a browser knows how.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.fold:not([open])")];
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
})();
