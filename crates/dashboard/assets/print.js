// Print: opens the print dialog of the browser once the page for printing is there.
(() => {
  "use strict";
  document.addEventListener("DOMContentLoaded", () => {
    if (location.hash === "#print") print();
    for (const link of document.querySelectorAll("a[data-print]")) link.hash = "print";
  });
})();
