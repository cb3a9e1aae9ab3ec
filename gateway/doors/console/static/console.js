// What the console adds in the browser: keys for tables, a copy button for commands, and no second press of a form's button.
"use strict";
(() => {
  const rows = () => [...document.querySelectorAll("[data-rows] tr, [data-rows] > article, [data-rows] > li")];
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    const now = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[Math.min(all.length - 1, Math.max(0, now < 0 ? 0 : now + by))];
    (next.querySelector("a, button, summary") || next).focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const keys = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const arrow = event.key.startsWith("Arrow");
    if (event.key in keys && (!arrow || rows().some((row) => row.contains(document.activeElement)))) {
      event.preventDefault();
      move(keys[event.key]);
    } else if (event.key === "/") {
      const field = document.querySelector("form.filter input");
      if (field) { event.preventDefault(); field.focus(); }
    }
  });
  // A menu of the head closes by Escape and by a press elsewhere.
  const close = (but) => document.querySelectorAll("details[name=menu][open]").forEach((menu) => { if (menu !== but) menu.open = false; });
  document.addEventListener("click", (event) => close(event.target.closest("details[name=menu]")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "1";
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) navigator.clipboard.writeText(button.previousElementSibling.textContent).then(() => { button.textContent = "Copied"; });
  });
  // The live list stands still while somebody points at it or is in it with the keyboard, and catches up afterwards.
  const live = () => document.getElementById("rows");
  const held = (list) => list && (list.matches(":hover") || list.contains(document.activeElement));
  let missed = false;
  document.addEventListener("htmx:sse:before:message", (event) => {
    if (held(live())) { missed = true; event.preventDefault(); }
  });
  const catchUp = () => setTimeout(() => {
    if (missed && !held(live())) { missed = false; document.getElementById("again").click(); }
  }, 50);
  document.addEventListener("mouseout", catchUp);
  document.addEventListener("focusout", catchUp);
  // The map zooms by its view box: keys while it has the focus, the wheel with Ctrl, and a drag with the mouse.
  const zoomable = (box) => {
    const picture = box.querySelector("svg");
    const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
    let view = { x: 0, y: 0, scale: 1 };
    const draw = () => {
      const least = (whole) => whole / view.scale;
      view.x = Math.min(Math.max(view.x, 0), width - least(width));
      view.y = Math.min(Math.max(view.y, 0), height - least(height));
      picture.setAttribute("viewBox", `${view.x} ${view.y} ${least(width)} ${least(height)}`);
    };
    const zoom = (by, x = 0.5, y = 0.5) => {
      const scale = Math.min(Math.max(view.scale * by, 1), 12);
      view.x += width * x * (1 / view.scale - 1 / scale);
      view.y += height * y * (1 / view.scale - 1 / scale);
      view.scale = scale;
      draw();
    };
    const step = () => width / view.scale / 10;
    const acts = {
      "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => { view = { x: 0, y: 0, scale: 1 }; draw(); },
      ArrowLeft: () => { view.x -= step(); draw(); }, ArrowRight: () => { view.x += step(); draw(); },
      ArrowUp: () => { view.y -= step(); draw(); }, ArrowDown: () => { view.y += step(); draw(); },
    };
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in acts)) return;
      if (event.key.startsWith("Arrow") && view.scale === 1) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    });
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = picture.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, (event.clientX - at.x) / at.width, (event.clientY - at.y) / at.height);
    }, { passive: false });
    let from = null;
    picture.addEventListener("pointerdown", (event) => { if (view.scale > 1 && event.button === 0) from = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false }; });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      const at = picture.getBoundingClientRect();
      from.moved = from.moved || Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y) > 5;
      view.x = from.view.x - (event.clientX - from.x) / at.width * width / view.scale;
      view.y = from.view.y - (event.clientY - from.y) / at.height * height / view.scale;
      draw();
    });
    addEventListener("pointerup", () => { 
      if (from && from.moved) {
        const stay = (event) => event.preventDefault();
        addEventListener("click", stay, { capture: true, once: true });
        setTimeout(() => removeEventListener("click", stay, { capture: true }), 50);
      }
      from = null;
    });
    picture.addEventListener("dragstart", (event) => event.preventDefault());
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-map]").forEach(zoomable);
    for (const command of document.querySelectorAll("pre.command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.copy = "";
      button.textContent = "Copy";
      command.after(button);
    }
  });
})();
