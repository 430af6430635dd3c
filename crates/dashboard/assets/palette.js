// The command palette (Ctrl+K or /), help with keys (?), and keys that lead to screens.
(() => {
  "use strict";
  const base = document.body.dataset.base;
  if (!base) return;
  const mayEdit = "mayEdit" in document.body.dataset;
  const screens = { h: "", m: "/monitors", i: "/incidents", c: "/channels", p: "/pages", w: "/maintenance", u: "/uptime", r: "/regions", s: "/settings" };
  const names = { h: "Home", m: "Monitors", i: "Incidents", c: "Channels", p: "Status pages", w: "Maintenance", u: "Uptime", r: "Regions", s: "Settings" };
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const dialog = (className, label, ...children) => {
    const made = element("dialog", { className: "dialog " + className }, ...children);
    made.setAttribute("aria-label", label);
    // A click beside the dialog closes it.
    made.addEventListener("click", (event) => event.target === made && made.close());
    document.body.append(made);
    return made;
  };

  let palette, input, results, status, asked;
  const search = async () => {
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams({ q: input.value, part: 1 });
    const { signal } = asked;
    const text = await fetch(`${base}/search?${query}`, { signal })
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.statusText))))
      .catch(() => null);
    // A newer search replaced this one.
    if (signal.aborted) return;
    if (text === null) {
      results.replaceChildren(element("p", { className: "nothing" }, "The search failed. Type again to retry."));
      status.textContent = "The search failed";
      return;
    }
    results.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
    status.textContent = `${links().length} results`;
  };
  const links = () => [...results.querySelectorAll("a")];
  const move = (event) => {
    const all = links();
    const place = all.indexOf(document.activeElement);
    if (event.key === "ArrowDown") all[Math.min(place + 1, all.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (place > 0 ? all[place - 1] : input).focus();
    else if (event.key === "Enter" && event.target === input) all[0]?.click();
    else return;
    event.preventDefault();
  };
  const openPalette = () => {
    if (!palette) {
      input = element("input", { type: "text", className: "palette-input", placeholder: "Search or jump to…", autocomplete: "off", spellcheck: false });
      input.setAttribute("aria-label", "Search");
      results = element("div", { className: "palette-results" });
      status = element("p", { className: "hide" });
      status.setAttribute("role", "status");
      palette = dialog("palette", "Search", input, results, status);
      input.addEventListener("input", search);
      palette.addEventListener("keydown", move);
    }
    input.value = "";
    search();
    palette.showModal();
    input.focus();
  };

  let help;
  const single = () => localStorage.getItem("aloft-single-keys") !== "off";
  const openHelp = () => {
    if (!help) {
      const list = element("dl", {});
      const line = (keys, text) => {
        const cell = element("dt", {});
        for (const key of keys) cell.append(element("kbd", {}, key), " ");
        list.append(cell, element("dd", {}, text));
      };
      line(["Ctrl", "K"], "Search, also with /");
      line(["?"], "This help");
      for (const key of Object.keys(screens)) line(["g", key], names[key]);
      if (mayEdit) line(["n"], "New monitor");
      const box = element("input", { type: "checkbox", checked: single() });
      box.addEventListener("change", () => localStorage.setItem("aloft-single-keys", box.checked ? "on" : "off"));
      const close = element("button", { type: "button" }, "Close");
      close.addEventListener("click", () => help.close());
      const body = element("div", { className: "keys" }, element("h2", {}, "Keys"), list, element("label", {}, box, "Use keys without Ctrl"), element("p", { className: "actions" }, close));
      help = dialog("help", "Keys", body);
    }
    help.showModal();
  };

  let prefix = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette?.open) palette.close();
      else openPalette();
      return;
    }
    // A field of a dialog that has just closed keeps the focus until the browser draws the next frame.
    const writes = event.target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]") && !event.target.closest("dialog:not([open])");
    if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (!single() && event.key !== "?") return;
    if (Date.now() - prefix < 1500 && event.key in screens) location.href = base + screens[event.key];
    else if (event.key === "/") openPalette();
    else if (event.key === "?") openHelp();
    else if (event.key === "n" && mayEdit) location.href = base + "/monitors/new";
    else {
      prefix = event.key === "g" ? Date.now() : 0;
      return;
    }
    prefix = 0;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-palette]") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    openPalette();
  });
})();
