// Buttons that copy the text of an element. They appear only where the browser can copy.
(() => {
  "use strict";
  if (!navigator.clipboard) return;

  const show = (root) => {
    for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
    await navigator.clipboard.writeText(text);
    button.dataset.done = "true";
    setTimeout(() => delete button.dataset.done, 2000);
  });

  document.addEventListener("DOMContentLoaded", () => show(document));
  document.addEventListener("htmx:afterSettle", (event) => show(event.target));
})();
