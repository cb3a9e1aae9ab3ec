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
  document.addEventListener("DOMContentLoaded", () => {
    for (const command of document.querySelectorAll("pre.command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.copy = "";
      button.textContent = "Copy";
      command.after(button);
    }
  });
})();
