// Makes pages live: local times, menus and toasts. Everything works without it: forms post, and links load.
(() => {
  "use strict";

  // Local times, with UTC on hover.
  const localTimes = (root) => {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      const timeStyle = "seconds" in time.dataset ? "medium" : "short";
      time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle });
    }
  };

  // Menus close when something else is clicked.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  // Toasts go after some seconds, unless somebody points at them.
  const hideToasts = () => {
    for (const toast of document.querySelectorAll(".toast")) {
      setTimeout(() => toast.matches(":hover, :focus-within") || toast.remove(), 8000);
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    localTimes(document);
    hideToasts();
  });
  document.addEventListener("htmx:afterSettle", (event) => localTimes(event.target));
})();
