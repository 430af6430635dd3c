// Buttons that copy the text of an element. Browsers copy only over an encrypted connection or on the same machine.
// Elsewhere, and if the person does not allow it, the text is selected for Ctrl+C.
(() => {
  "use strict";

  const show = (root) => {
    for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  };

  const select = (element) => {
    element.focus();
    getSelection().selectAllChildren(element);
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    const element = button && document.getElementById(button.dataset.copy);
    if (!element) return;
    try {
      await navigator.clipboard.writeText(element.textContent);
    } catch {
      select(element);
      return;
    }
    button.dataset.done = "true";
    setTimeout(() => delete button.dataset.done, 2000);
  });

  document.addEventListener("DOMContentLoaded", () => show(document));
  document.addEventListener("htmx:afterSettle", (event) => show(event.target));
})();
