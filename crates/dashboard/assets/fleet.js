// The list of monitors: one box ticks all rows, and ticked rows are counted. Deleting ticked rows needs no
// confirmation, because it can be undone.
(() => {
  "use strict";
  const form = () => document.querySelector(".bulk-form");
  const boxes = () => [...form().querySelectorAll("[name=monitor]")];
  const show = () => {
    if (!form()) return;
    const ticked = boxes().filter((box) => box.checked).length;
    const all = form().querySelector("[data-check-all]");
    if (!all) return;
    all.hidden = false;
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && !all.checked;
    form().querySelector(".bulk-count").textContent = `${ticked} selected`;
    form().querySelector("[name=confirmed]").value =
      form().querySelector("[name=all]")?.checked ? "" : ticked;
  };
  document.addEventListener("change", (event) => {
    if (!event.target.closest(".bulk-form")) return;
    if (event.target.matches("[data-check-all]")) {
      for (const box of boxes()) box.checked = event.target.checked;
    }
    show();
  });
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll(".without-scripts")) button.hidden = true;
    // The answer to a refused change has the path of the change, which cannot be loaded again.
    const address = document.querySelector("form[data-address]")?.dataset.address;
    if (address) history.replaceState(null, "", address);
    show();
  });
  document.addEventListener("htmx:afterSettle", show);
})();
